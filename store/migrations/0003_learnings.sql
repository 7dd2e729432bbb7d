-- Learnings in full: versions that are only appended to, an audit chain, identities of edited rules, correction notes, what was
-- injected and applied, projects under several keys, and search over words, trigrams and CJK bigrams.

ALTER TABLE learnings ADD COLUMN superseded_by TEXT NOT NULL DEFAULT '';
ALTER TABLE learnings ADD COLUMN times_recurred INTEGER NOT NULL DEFAULT 0; -- captured again after it had been injected
ALTER TABLE learnings ADD COLUMN detector TEXT NOT NULL DEFAULT '';         -- what shows that the rule was applied
ALTER TABLE learnings ADD COLUMN last_injected_at TEXT;
ALTER TABLE learnings ADD COLUMN parts TEXT NOT NULL DEFAULT '';            -- words of identifiers, for the index
ALTER TABLE learnings ADD COLUMN cjk TEXT NOT NULL DEFAULT '';              -- bigrams, for the index
CREATE INDEX learnings_by_project ON learnings (status, project, wiki, created_at);
CREATE INDEX learnings_proven ON learnings (status, project) WHERE times_applied > 0 OR observations > 1;

DROP TRIGGER learnings_fts_insert;
DROP TRIGGER learnings_fts_delete;
DROP TRIGGER learnings_fts_update;
DROP TABLE learnings_fts;
CREATE VIRTUAL TABLE learnings_words USING fts5 (category, rule, mistake, correction, parts, content = 'learnings', content_rowid = 'n', tokenize = 'porter unicode61 remove_diacritics 2');
CREATE VIRTUAL TABLE learnings_trigrams USING fts5 (rule, mistake, correction, category, content = 'learnings', content_rowid = 'n', tokenize = 'trigram');
CREATE VIRTUAL TABLE learnings_cjk USING fts5 (cjk, content = 'learnings', content_rowid = 'n', tokenize = 'unicode61');
-- What is forgotten leaves no words behind in the index.
INSERT INTO learnings_words (learnings_words, rank) VALUES ('secure-delete', 1);
INSERT INTO learnings_trigrams (learnings_trigrams, rank) VALUES ('secure-delete', 1);
INSERT INTO learnings_cjk (learnings_cjk, rank) VALUES ('secure-delete', 1);
INSERT INTO learnings_words (learnings_words) VALUES ('rebuild');
INSERT INTO learnings_trigrams (learnings_trigrams) VALUES ('rebuild');
INSERT INTO learnings_cjk (learnings_cjk) VALUES ('rebuild');
CREATE TRIGGER learnings_insert AFTER INSERT ON learnings BEGIN
    INSERT INTO learnings_words (rowid, category, rule, mistake, correction, parts) VALUES (new.n, new.category, new.rule, new.mistake, new.correction, new.parts);
    INSERT INTO learnings_trigrams (rowid, rule, mistake, correction, category) VALUES (new.n, new.rule, new.mistake, new.correction, new.category);
    INSERT INTO learnings_cjk (rowid, cjk) VALUES (new.n, new.cjk);
END;
CREATE TRIGGER learnings_update AFTER UPDATE OF category, rule, mistake, correction, parts, cjk ON learnings BEGIN
    INSERT INTO learnings_words (learnings_words, rowid, category, rule, mistake, correction, parts) VALUES ('delete', old.n, old.category, old.rule, old.mistake, old.correction, old.parts);
    INSERT INTO learnings_trigrams (learnings_trigrams, rowid, rule, mistake, correction, category) VALUES ('delete', old.n, old.rule, old.mistake, old.correction, old.category);
    INSERT INTO learnings_cjk (learnings_cjk, rowid, cjk) VALUES ('delete', old.n, old.cjk);
    INSERT INTO learnings_words (rowid, category, rule, mistake, correction, parts) VALUES (new.n, new.category, new.rule, new.mistake, new.correction, new.parts);
    INSERT INTO learnings_trigrams (rowid, rule, mistake, correction, category) VALUES (new.n, new.rule, new.mistake, new.correction, new.category);
    INSERT INTO learnings_cjk (rowid, cjk) VALUES (new.n, new.cjk);
END;

-- A learning as it was from one recording to the next. Valid time is in valid_from and valid_to, recording time in recorded_at.
CREATE TABLE learning_versions (
    learning_id   TEXT NOT NULL REFERENCES learnings (id),
    v             INTEGER NOT NULL,
    status        TEXT NOT NULL,
    category      TEXT NOT NULL,
    rule          TEXT NOT NULL,
    mistake       TEXT NOT NULL,
    correction    TEXT NOT NULL,
    skill         TEXT NOT NULL,
    wiki          TEXT NOT NULL,
    detector      TEXT NOT NULL,
    superseded_by TEXT NOT NULL,
    valid_from    TEXT NOT NULL,
    valid_to      TEXT,
    recorded_at   TEXT NOT NULL,
    PRIMARY KEY (learning_id, v)
) STRICT;
CREATE INDEX learning_versions_by_time ON learning_versions (learning_id, recorded_at);

-- Under which normalised rules a learning is known: its first wording and those that an edit gave it. Hashes, no texts.
CREATE TABLE learning_identities (
    identity    TEXT PRIMARY KEY,
    learning_id TEXT NOT NULL REFERENCES learnings (id)
) STRICT;
INSERT INTO learning_identities SELECT id, id FROM learnings;

-- A prompt in which a person corrected the agent. Review turns it into a learning, or dismisses it.
CREATE TABLE correction_notes (
    id          TEXT PRIMARY KEY,
    project     TEXT NOT NULL,
    session     TEXT NOT NULL,
    host        TEXT NOT NULL,
    excerpt     TEXT NOT NULL,       -- redacted
    status      TEXT NOT NULL CHECK (status IN ('open', 'turned', 'dismissed')),
    learning_id TEXT NOT NULL,       -- what it was turned into
    at          TEXT NOT NULL
) STRICT;
CREATE INDEX correction_notes_by_status ON correction_notes (status, at);

-- Events of hosts that had an effect, so that a second delivery of one has none.
CREATE TABLE hook_events (
    id TEXT PRIMARY KEY,
    at TEXT NOT NULL
) STRICT;

-- What a session was told. round counts the compactions: after one, a learning may be told again.
CREATE TABLE injections (
    session     TEXT NOT NULL,
    round       INTEGER NOT NULL,
    what        TEXT NOT NULL,       -- id of a learning, or ref of a wiki's entry
    at          TEXT NOT NULL,
    PRIMARY KEY (session, round, what)
) STRICT;
CREATE INDEX injections_by_what ON injections (what);

-- Evidence that a learning was applied.
CREATE TABLE applications (
    id          TEXT PRIMARY KEY,
    learning_id TEXT NOT NULL REFERENCES learnings (id),
    session     TEXT NOT NULL,
    evidence    TEXT NOT NULL CHECK (evidence IN ('cited', 'reply', 'edit', 'run', 'command')),
    at          TEXT NOT NULL
) STRICT;
CREATE INDEX applications_by_learning ON applications (learning_id);

-- One project has several keys: its remote, its git folder, where that lies. A key never moves to another project.
CREATE TABLE projects (
    id   TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    at   TEXT NOT NULL
) STRICT;
CREATE TABLE project_keys (
    key     TEXT PRIMARY KEY,
    project TEXT NOT NULL REFERENCES projects (id)
) STRICT;
INSERT INTO projects SELECT DISTINCT project, '', '' FROM learnings WHERE project <> '';
INSERT INTO project_keys SELECT id, id FROM projects;

-- What caps over days and months count, and what agents' programs say that their calls cost.
ALTER TABLE calls ADD COLUMN reserved_tokens INTEGER NOT NULL DEFAULT 0;
ALTER TABLE calls ADD COLUMN written INTEGER NOT NULL DEFAULT 0;  -- part of input that was written to a cache
ALTER TABLE calls ADD COLUMN reported INTEGER NOT NULL DEFAULT 0; -- nanodollars
CREATE INDEX calls_by_time ON calls (at);

-- The audit chain: each event carries a code over itself and the one before it, under a key that is not in this file, and,
-- where it tells of a learning, a code over that learning's contents.
ALTER TABLE events ADD COLUMN content TEXT NOT NULL DEFAULT '';
ALTER TABLE events ADD COLUMN mac TEXT NOT NULL DEFAULT '';
