-- Wikis: pages as files with a shadow here, seeds, sources with their snapshots (in texts), claims and what they rest on.

CREATE TABLE wikis (
    slug       TEXT PRIMARY KEY,
    title      TEXT NOT NULL,
    flavor     TEXT NOT NULL,
    root       TEXT NOT NULL UNIQUE,
    project    TEXT NOT NULL,
    private    INTEGER NOT NULL,
    created_at TEXT NOT NULL,
    last_tick  TEXT,                       -- when a scheduled tick last took it
    tick_failures   INTEGER NOT NULL DEFAULT 0,
    tick_not_before TEXT,
    tick_error TEXT NOT NULL DEFAULT ''
) STRICT;

CREATE TABLE pages (
    n          INTEGER PRIMARY KEY,
    id         TEXT NOT NULL UNIQUE,
    wiki       TEXT NOT NULL REFERENCES wikis (slug) ON DELETE CASCADE,
    path       TEXT NOT NULL,
    kind       TEXT NOT NULL,
    title      TEXT NOT NULL,
    key        TEXT NOT NULL,
    summary    TEXT NOT NULL,
    origin     TEXT NOT NULL CHECK (origin IN ('research', 'person', 'council', 'survey')),
    state      TEXT NOT NULL CHECK (state IN ('live', 'proposed', 'removed')),
    want       TEXT NOT NULL,              -- hash of the text as it should be
    generated  TEXT NOT NULL,              -- hash of the generated text that the file holds
    disk       TEXT NOT NULL,              -- hash of the file as we left or last saw it
    dirty      INTEGER NOT NULL DEFAULT 0, -- its evidence changed since it was rendered
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    UNIQUE (wiki, path),
    UNIQUE (wiki, key)
) STRICT;

CREATE INDEX pages_dirty ON pages (wiki) WHERE dirty = 1;

-- index.md, sources.md and the log: the generated text that each file holds, a person's changes aside.
CREATE TABLE wiki_lists (
    wiki      TEXT NOT NULL REFERENCES wikis (slug) ON DELETE CASCADE,
    name      TEXT NOT NULL,
    generated TEXT NOT NULL,
    PRIMARY KEY (wiki, name)
) STRICT;

CREATE TABLE seeds (
    n          INTEGER PRIMARY KEY,
    id         TEXT NOT NULL UNIQUE,
    wiki       TEXT NOT NULL REFERENCES wikis (slug) ON DELETE CASCADE,
    text       TEXT NOT NULL,
    key        TEXT NOT NULL,
    kind       TEXT NOT NULL CHECK (kind IN ('topic', 'verify')),
    page_kind  TEXT NOT NULL,
    depth      INTEGER NOT NULL,
    parent     TEXT NOT NULL,
    origin     TEXT NOT NULL,
    status     TEXT NOT NULL CHECK (status IN ('pending', 'active', 'done', 'failed')),
    attempts   INTEGER NOT NULL DEFAULT 0,
    lease_run  TEXT NOT NULL DEFAULT '',
    lease_batch INTEGER NOT NULL DEFAULT 0,
    not_before TEXT,
    page_id    TEXT NOT NULL DEFAULT '',
    why        TEXT NOT NULL DEFAULT '',
    found      INTEGER NOT NULL DEFAULT 0,
    fresh      INTEGER NOT NULL DEFAULT 0,
    novelty    REAL,
    claims     TEXT NOT NULL DEFAULT '[]', -- JSON: of a verify seed, the claims to look at
    supports   INTEGER NOT NULL DEFAULT 0,
    conflicts  INTEGER NOT NULL DEFAULT 0,
    settled_run TEXT NOT NULL DEFAULT '',
    settled_n  INTEGER,                    -- order of settlement
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    UNIQUE (wiki, kind, key)
) STRICT;
CREATE INDEX seeds_frontier ON seeds (wiki, status, depth, n);
CREATE INDEX seeds_by_lease ON seeds (lease_run, lease_batch) WHERE status = 'active';
CREATE INDEX seeds_by_settlement ON seeds (wiki, settled_n) WHERE settled_n IS NOT NULL;

CREATE TABLE sources (
    id         TEXT PRIMARY KEY,
    n          INTEGER,                    -- number in sources.md; null until something cites it
    wiki       TEXT NOT NULL REFERENCES wikis (slug) ON DELETE CASCADE,
    url        TEXT NOT NULL,
    title      TEXT NOT NULL,
    fetcher    TEXT NOT NULL,
    authors    TEXT NOT NULL,              -- JSON
    published  TEXT NOT NULL,
    snapshot   TEXT NOT NULL,
    snippet    INTEGER NOT NULL,
    retracted  INTEGER NOT NULL,
    fetched_at TEXT NOT NULL,
    UNIQUE (wiki, url)
) STRICT;
CREATE UNIQUE INDEX sources_by_number ON sources (wiki, n) WHERE n IS NOT NULL;

-- What was asked and answered, so that it is not asked again within its age limit.
CREATE TABLE fetches (
    key  TEXT PRIMARY KEY,                 -- hash of wiki, fetcher and question
    wiki TEXT NOT NULL REFERENCES wikis (slug) ON DELETE CASCADE,
    docs TEXT NOT NULL,                    -- JSON: source ids and snapshots
    at   TEXT NOT NULL
) STRICT;

-- What a run got for a seed from each fetcher.
CREATE TABLE seed_fetches (
    run_id  TEXT NOT NULL,
    seed_id TEXT NOT NULL REFERENCES seeds (id) ON DELETE CASCADE,
    fetcher TEXT NOT NULL,
    docs    TEXT NOT NULL,                 -- JSON
    kind    TEXT NOT NULL,                 -- of the error, '' for none
    error   TEXT NOT NULL,
    PRIMARY KEY (run_id, seed_id, fetcher)
) STRICT;

-- What a seed brought, before it was compared with what is known.
CREATE TABLE seed_found (
    run_id    TEXT NOT NULL,
    seed_id   TEXT NOT NULL REFERENCES seeds (id) ON DELETE CASCADE,
    found     TEXT NOT NULL,               -- JSON
    questions TEXT NOT NULL,               -- JSON: follow-ups that a model proposed
    PRIMARY KEY (run_id, seed_id)
) STRICT;

CREATE TABLE claims (
    n           INTEGER PRIMARY KEY,
    id          TEXT NOT NULL UNIQUE,
    wiki        TEXT NOT NULL REFERENCES wikis (slug) ON DELETE CASCADE,
    page_id     TEXT NOT NULL,
    text        TEXT NOT NULL,
    source_id   TEXT NOT NULL,
    snapshot    TEXT NOT NULL,
    span_start  INTEGER NOT NULL,
    span_end    INTEGER NOT NULL,
    quote       TEXT NOT NULL,
    confidence  REAL NOT NULL,
    verified_at TEXT,
    unsupported INTEGER NOT NULL DEFAULT 0,
    created_at  TEXT NOT NULL
) STRICT;
CREATE INDEX claims_by_page ON claims (page_id, n);
CREATE INDEX claims_by_age ON claims (wiki, verified_at);
CREATE INDEX claims_by_source ON claims (source_id);

CREATE TABLE claim_supports (
    claim_id   TEXT NOT NULL REFERENCES claims (id) ON DELETE CASCADE,
    source_id  TEXT NOT NULL,
    snapshot   TEXT NOT NULL,
    span_start INTEGER NOT NULL,
    span_end   INTEGER NOT NULL,
    quote      TEXT NOT NULL,
    PRIMARY KEY (claim_id, source_id)
) STRICT;

CREATE INDEX claim_supports_by_source ON claim_supports (source_id);

CREATE TABLE contradictions (
    a   TEXT NOT NULL REFERENCES claims (id) ON DELETE CASCADE,  -- the older claim
    b   TEXT NOT NULL REFERENCES claims (id) ON DELETE CASCADE,
    why TEXT NOT NULL,
    PRIMARY KEY (a, b)
) STRICT;
CREATE INDEX contradictions_by_b ON contradictions (b);

-- Words of claims, to find those that may say the same or the opposite.
CREATE TABLE claim_terms (
    wiki  TEXT NOT NULL,
    term  TEXT NOT NULL,
    claim INTEGER NOT NULL REFERENCES claims (n) ON DELETE CASCADE,
    PRIMARY KEY (wiki, term, claim)
) STRICT, WITHOUT ROWID;
CREATE INDEX claim_terms_by_claim ON claim_terms (claim);

CREATE TABLE research_runs (
    id          TEXT PRIMARY KEY,
    wiki        TEXT NOT NULL,
    workflow_id TEXT NOT NULL,
    kind        TEXT NOT NULL CHECK (kind IN ('research', 'council', 'survey')),
    params      TEXT NOT NULL,
    halted      TEXT NOT NULL,
    started_at  TEXT NOT NULL,
    ended_at    TEXT,
    result      TEXT
) STRICT;
CREATE INDEX research_runs_by_wiki ON research_runs (wiki, started_at);

-- Answers of a council and their rankings.
CREATE TABLE council_answers (
    run_id  TEXT NOT NULL,
    member  TEXT NOT NULL,
    phase   TEXT NOT NULL CHECK (phase IN ('answer', 'ranking', 'synthesis')),
    text    TEXT NOT NULL,
    failed  TEXT NOT NULL,
    PRIMARY KEY (run_id, member, phase)
) STRICT;

-- The full-text index over pages and claims.
CREATE TABLE entries (
    n       INTEGER PRIMARY KEY,
    ref     TEXT NOT NULL UNIQUE,          -- page:<id> or claim:<id>
    wiki    TEXT NOT NULL REFERENCES wikis (slug) ON DELETE CASCADE,
    what    TEXT NOT NULL CHECK (what IN ('page', 'claim')),
    kind    TEXT NOT NULL,                 -- of the page
    page_id TEXT NOT NULL,
    title   TEXT NOT NULL,
    summary TEXT NOT NULL,
    content TEXT NOT NULL,
    parts   TEXT NOT NULL,                 -- identifiers cut into their words
    cjk     TEXT NOT NULL,                 -- bigrams
    at      TEXT NOT NULL
) STRICT;
CREATE INDEX entries_by_wiki ON entries (wiki, what);
CREATE INDEX entries_by_page ON entries (page_id);

CREATE VIRTUAL TABLE entries_words USING fts5 (title, summary, content, parts, content = 'entries', content_rowid = 'n', tokenize = 'porter unicode61 remove_diacritics 2');
CREATE VIRTUAL TABLE entries_trigrams USING fts5 (title, content, content = 'entries', content_rowid = 'n', tokenize = 'trigram');
CREATE VIRTUAL TABLE entries_cjk USING fts5 (cjk, content = 'entries', content_rowid = 'n', tokenize = 'unicode61');
CREATE TRIGGER entries_insert AFTER INSERT ON entries BEGIN
    INSERT INTO entries_words (rowid, title, summary, content, parts) VALUES (new.n, new.title, new.summary, new.content, new.parts);
    INSERT INTO entries_trigrams (rowid, title, content) VALUES (new.n, new.title, new.content);
    INSERT INTO entries_cjk (rowid, cjk) VALUES (new.n, new.cjk);
END;
CREATE TRIGGER entries_delete AFTER DELETE ON entries BEGIN
    INSERT INTO entries_words (entries_words, rowid, title, summary, content, parts) VALUES ('delete', old.n, old.title, old.summary, old.content, old.parts);
    INSERT INTO entries_trigrams (entries_trigrams, rowid, title, content) VALUES ('delete', old.n, old.title, old.content);
    INSERT INTO entries_cjk (entries_cjk, rowid, cjk) VALUES ('delete', old.n, old.cjk);
END;

-- Vectors by content and model: what did not change is not embedded again, what did is.
CREATE TABLE vectors (
    hash  TEXT NOT NULL,
    model TEXT NOT NULL,
    vec   BLOB NOT NULL,                   -- float32, little endian, of length one
    PRIMARY KEY (hash, model)
) STRICT;
CREATE TABLE chunks (
    page_id TEXT NOT NULL,
    ord     INTEGER NOT NULL,
    wiki    TEXT NOT NULL REFERENCES wikis (slug) ON DELETE CASCADE,
    hash    TEXT NOT NULL,
    PRIMARY KEY (page_id, ord)
) STRICT;
CREATE INDEX chunks_by_wiki ON chunks (wiki);
