-- Optional, after v1.sql, v2.sql or v3.sql: the full-text index that the real database has
-- over learnings, with the triggers that keep it. External content: it adds no text.
-- Needs a SQLite built with FTS5.
CREATE VIRTUAL TABLE learnings_fts USING fts5 (category, rule, mistake, correction, content='learnings', content_rowid='id');
INSERT INTO learnings_fts (learnings_fts) VALUES ('rebuild');
CREATE TRIGGER learnings_ai AFTER INSERT ON learnings BEGIN
  INSERT INTO learnings_fts (rowid, category, rule, mistake, correction) SELECT new.id, new.category, new.rule, new.mistake, new.correction;
END;
CREATE TRIGGER learnings_ad AFTER DELETE ON learnings BEGIN
  INSERT INTO learnings_fts (learnings_fts, rowid, category, rule, mistake, correction) SELECT 'delete', old.id, old.category, old.rule, old.mistake, old.correction;
END;
CREATE TRIGGER learnings_au AFTER UPDATE ON learnings BEGIN
  INSERT INTO learnings_fts (learnings_fts, rowid, category, rule, mistake, correction) SELECT 'delete', old.id, old.category, old.rule, old.mistake, old.correction;
  INSERT INTO learnings_fts (rowid, category, rule, mistake, correction) SELECT new.id, new.category, new.rule, new.mistake, new.correction;
END;
