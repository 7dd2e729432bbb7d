-- The first schema. Times are RFC 3339 in UTC, money is in nanodollars, booleans are 0 and 1.

CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT;

-- What people taught. n is the rowid that the full-text index refers to.
CREATE TABLE learnings (
    n              INTEGER PRIMARY KEY,
    id             TEXT NOT NULL UNIQUE,
    status         TEXT NOT NULL CHECK (status IN ('pending', 'approved', 'rejected', 'superseded', 'forgotten')),
    project        TEXT NOT NULL,
    category       TEXT NOT NULL,
    rule           TEXT NOT NULL,
    mistake        TEXT NOT NULL,
    correction     TEXT NOT NULL,
    skill          TEXT NOT NULL,
    wiki           TEXT NOT NULL,
    host           TEXT NOT NULL,
    session        TEXT NOT NULL,
    observations   INTEGER NOT NULL DEFAULT 1,
    times_injected INTEGER NOT NULL DEFAULT 0,
    times_applied  INTEGER NOT NULL DEFAULT 0,
    created_at     TEXT NOT NULL,
    valid_from     TEXT NOT NULL,
    valid_to       TEXT
) STRICT;
CREATE INDEX learnings_by_status ON learnings (status, created_at);

CREATE VIRTUAL TABLE learnings_fts USING fts5 (
    category, rule, mistake, correction,
    content = 'learnings', content_rowid = 'n',
    tokenize = 'porter unicode61 remove_diacritics 2'
);
CREATE TRIGGER learnings_fts_insert AFTER INSERT ON learnings BEGIN
    INSERT INTO learnings_fts (rowid, category, rule, mistake, correction)
    VALUES (new.n, new.category, new.rule, new.mistake, new.correction);
END;
CREATE TRIGGER learnings_fts_delete AFTER DELETE ON learnings BEGIN
    INSERT INTO learnings_fts (learnings_fts, rowid, category, rule, mistake, correction)
    VALUES ('delete', old.n, old.category, old.rule, old.mistake, old.correction);
END;
CREATE TRIGGER learnings_fts_update AFTER UPDATE OF category, rule, mistake, correction ON learnings BEGIN
    INSERT INTO learnings_fts (learnings_fts, rowid, category, rule, mistake, correction)
    VALUES ('delete', old.n, old.category, old.rule, old.mistake, old.correction);
    INSERT INTO learnings_fts (rowid, category, rule, mistake, correction)
    VALUES (new.n, new.category, new.rule, new.mistake, new.correction);
END;

-- Which skills a learning trains. learnings.skill is the first of them.
CREATE TABLE learning_skills (
    learning_id TEXT NOT NULL REFERENCES learnings (id),
    skill_key   TEXT NOT NULL,
    PRIMARY KEY (learning_id, skill_key)
) STRICT;
CREATE INDEX learning_skills_by_skill ON learning_skills (skill_key);

-- One row for each capture event, so that an event delivered twice counts once.
CREATE TABLE captures (
    id          TEXT PRIMARY KEY,
    learning_id TEXT NOT NULL REFERENCES learnings (id),
    session     TEXT NOT NULL,
    host        TEXT NOT NULL,
    at          TEXT NOT NULL
) STRICT;

-- Texts by SHA-256: skills, candidates, prompts' parts. Payloads of workflows carry the hash.
CREATE TABLE texts (
    hash TEXT PRIMARY KEY,
    text TEXT NOT NULL,
    at   TEXT NOT NULL
) STRICT;

CREATE TABLE runs (
    id          TEXT PRIMARY KEY,
    workflow_id TEXT NOT NULL,
    skill_key   TEXT NOT NULL,
    skill_name  TEXT NOT NULL,
    skill_path  TEXT NOT NULL,
    provider    TEXT NOT NULL,
    judge       TEXT NOT NULL,
    mode        TEXT NOT NULL,
    goal        TEXT NOT NULL,
    seed        INTEGER NOT NULL,
    hash_before TEXT NOT NULL,
    manifest    TEXT NOT NULL,
    outcome     TEXT NOT NULL,
    started_at  TEXT NOT NULL,
    ended_at    TEXT,
    result      TEXT              -- the JSON object of optimize --json
) STRICT;
CREATE INDEX runs_by_start ON runs (started_at);

CREATE TABLE steps (
    run_id    TEXT NOT NULL REFERENCES runs (id),
    step      INTEGER NOT NULL,
    try       INTEGER NOT NULL,
    epoch     INTEGER NOT NULL,
    parent    TEXT NOT NULL,
    candidate TEXT NOT NULL,
    outcome   TEXT NOT NULL,
    reason    TEXT NOT NULL,
    parent_score    REAL,
    candidate_score REAL,
    p         REAL,
    alpha     REAL,
    replayed  INTEGER NOT NULL,
    PRIMARY KEY (run_id, step, try)
) STRICT;

CREATE TABLE candidates (
    run_id TEXT NOT NULL REFERENCES runs (id),
    step   INTEGER NOT NULL,
    try    INTEGER NOT NULL,
    hash   TEXT NOT NULL,
    parent TEXT NOT NULL,
    bundle TEXT NOT NULL,         -- the key under which a refusal is found again
    edits  TEXT NOT NULL,         -- JSON: the patches' keys
    PRIMARY KEY (run_id, step, try)
) STRICT;

CREATE TABLE patches (
    run_id  TEXT NOT NULL REFERENCES runs (id),
    step    INTEGER NOT NULL,
    ord     INTEGER NOT NULL,
    key     TEXT NOT NULL,        -- '' where the patch never resolved
    op      TEXT NOT NULL,
    anchor  TEXT NOT NULL,
    payload TEXT NOT NULL,
    support INTEGER NOT NULL,
    items   TEXT NOT NULL,        -- JSON: the train items it answers to
    state   TEXT NOT NULL,
    reason  TEXT NOT NULL,
    PRIMARY KEY (run_id, step, ord)
) STRICT;

CREATE TABLE reflections (
    run_id  TEXT NOT NULL REFERENCES runs (id),
    step    INTEGER NOT NULL,
    batch   INTEGER NOT NULL,
    patches TEXT NOT NULL,        -- JSON
    failed  TEXT NOT NULL,        -- why the call failed for good; '' if it did not
    PRIMARY KEY (run_id, step, batch)
) STRICT;

CREATE TABLE items (
    id       TEXT PRIMARY KEY,
    kind     TEXT NOT NULL,
    category TEXT NOT NULL,
    prompt   TEXT NOT NULL,
    expected TEXT NOT NULL
) STRICT;

-- A side is assigned once for each skill and never changes.
CREATE TABLE item_sides (
    skill_key TEXT NOT NULL,
    item_id   TEXT NOT NULL REFERENCES items (id),
    side      TEXT NOT NULL CHECK (side IN ('train', 'selection', 'test')),
    PRIMARY KEY (skill_key, item_id)
) STRICT;

-- The manifest that a run froze.
CREATE TABLE run_items (
    run_id    TEXT NOT NULL REFERENCES runs (id),
    item_id   TEXT NOT NULL REFERENCES items (id),
    side      TEXT NOT NULL,
    weight    REAL NOT NULL,
    cluster   TEXT NOT NULL,
    learnings TEXT NOT NULL,      -- JSON: ids
    PRIMARY KEY (run_id, item_id)
) STRICT;

CREATE TABLE run_excluded (
    run_id      TEXT NOT NULL REFERENCES runs (id),
    learning_id TEXT NOT NULL,
    reason      TEXT NOT NULL,
    other       TEXT NOT NULL,
    PRIMARY KEY (run_id, learning_id)
) STRICT;

CREATE TABLE verdicts (
    run_id  TEXT NOT NULL REFERENCES runs (id),
    stage   TEXT NOT NULL,        -- baseline, step-3.0, step-3.0-again, test
    hash    TEXT NOT NULL,        -- of the skill text that was judged
    item_id TEXT NOT NULL,
    trial   INTEGER NOT NULL,
    state   TEXT NOT NULL CHECK (state IN ('pass', 'fail', 'missing')),
    why     TEXT NOT NULL,
    PRIMARY KEY (run_id, stage, hash, item_id, trial)
) STRICT;

-- Refused bundles, across runs.
CREATE TABLE rejections (
    bundle    TEXT PRIMARY KEY,
    skill_key TEXT NOT NULL,
    parent    TEXT NOT NULL,
    manifest  TEXT NOT NULL,
    judge     TEXT NOT NULL,
    reason    TEXT NOT NULL,
    patches   TEXT NOT NULL,      -- JSON
    divisible INTEGER NOT NULL,   -- a part of it may be good
    run_id    TEXT NOT NULL,
    parent_score    REAL,
    candidate_score REAL,
    at        TEXT NOT NULL
) STRICT;
CREATE INDEX rejections_by_skill ON rejections (skill_key, at);

-- Looks at a selection manifest over the skill's life: what alpha has been spent on.
CREATE TABLE looks (
    skill_key TEXT NOT NULL,
    manifest  TEXT NOT NULL,
    run_id    TEXT NOT NULL,
    step      INTEGER NOT NULL,
    try       INTEGER NOT NULL,
    look      INTEGER NOT NULL,
    PRIMARY KEY (skill_key, manifest, run_id, step, try),
    UNIQUE (skill_key, manifest, look)
) STRICT;

-- Reads of a sealed test side.
CREATE TABLE test_reads (
    skill_key TEXT NOT NULL,
    manifest  TEXT NOT NULL,
    run_id    TEXT NOT NULL,
    PRIMARY KEY (skill_key, manifest, run_id)
) STRICT;

-- The ledger. A reserved call whose process died becomes unknown, and unknown counts as spent.
CREATE TABLE calls (
    key        TEXT NOT NULL,
    attempt    INTEGER NOT NULL,
    run_id     TEXT NOT NULL,
    stage      TEXT NOT NULL,
    step       INTEGER NOT NULL,
    provider   TEXT NOT NULL,
    model      TEXT NOT NULL,
    state      TEXT NOT NULL CHECK (state IN ('reserved', 'settled', 'unknown', 'released')),
    reserved   INTEGER NOT NULL,
    spent      INTEGER NOT NULL,
    input      INTEGER NOT NULL,
    cached     INTEGER NOT NULL,
    output     INTEGER NOT NULL,
    estimated  INTEGER NOT NULL,
    reply      TEXT,
    finish     TEXT NOT NULL,
    error      TEXT NOT NULL,
    at         TEXT NOT NULL,
    settled_at TEXT,
    PRIMARY KEY (key, attempt)
) STRICT;
CREATE INDEX calls_by_run ON calls (run_id, state);
CREATE UNIQUE INDEX calls_settled_once ON calls (key) WHERE state = 'settled';

CREATE TABLE skill_versions (
    n         INTEGER PRIMARY KEY,
    skill_key TEXT NOT NULL,
    hash      TEXT NOT NULL REFERENCES texts (hash),
    parent    TEXT NOT NULL,
    run_id    TEXT NOT NULL,
    path      TEXT NOT NULL,
    how       TEXT NOT NULL,      -- found, written, staged, rolled back
    at        TEXT NOT NULL,
    UNIQUE (skill_key, hash, run_id, how)
) STRICT;

CREATE TABLE events (
    n       INTEGER PRIMARY KEY AUTOINCREMENT,
    at      TEXT NOT NULL,
    kind    TEXT NOT NULL,
    subject TEXT NOT NULL,
    detail  TEXT NOT NULL
) STRICT;
CREATE INDEX events_by_subject ON events (subject, n);
