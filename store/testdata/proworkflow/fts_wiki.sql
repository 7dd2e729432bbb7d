-- Optional, after v2.sql or v3.sql: the same for wiki_pages.
CREATE VIRTUAL TABLE wiki_pages_fts USING fts5 (title, summary, content, content='wiki_pages', content_rowid='id');
INSERT INTO wiki_pages_fts (wiki_pages_fts) VALUES ('rebuild');
CREATE TRIGGER wiki_pages_ai AFTER INSERT ON wiki_pages BEGIN
  INSERT INTO wiki_pages_fts (rowid, title, summary, content) SELECT new.id, new.title, new.summary, new.content;
END;
CREATE TRIGGER wiki_pages_ad AFTER DELETE ON wiki_pages BEGIN
  INSERT INTO wiki_pages_fts (wiki_pages_fts, rowid, title, summary, content) SELECT 'delete', old.id, old.title, old.summary, old.content;
END;
CREATE TRIGGER wiki_pages_au AFTER UPDATE ON wiki_pages BEGIN
  INSERT INTO wiki_pages_fts (wiki_pages_fts, rowid, title, summary, content) SELECT 'delete', old.id, old.title, old.summary, old.content;
  INSERT INTO wiki_pages_fts (rowid, title, summary, content) SELECT new.id, new.title, new.summary, new.content;
END;
