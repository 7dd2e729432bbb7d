-- Which judge gave which verdict, and what a run of the optimizer keeps beyond steps and patches: advice of an epoch, edits that did
-- harm, baselines to compare with, items of kinds with fields of their own, and the files that a person vouched for.

ALTER TABLE verdicts ADD COLUMN judge TEXT NOT NULL DEFAULT '';      -- provider:model; '' before this schema

ALTER TABLE items ADD COLUMN spec TEXT NOT NULL DEFAULT '';          -- JSON: the kind's own fields; '' where it has none
ALTER TABLE run_items ADD COLUMN fixed INTEGER NOT NULL DEFAULT 0;

ALTER TABLE steps ADD COLUMN stage TEXT NOT NULL DEFAULT '';
ALTER TABLE steps ADD COLUMN look INTEGER;
ALTER TABLE steps ADD COLUMN kind TEXT NOT NULL DEFAULT 'step';
ALTER TABLE steps ADD COLUMN parent_stage TEXT NOT NULL DEFAULT '';
ALTER TABLE steps ADD COLUMN judge TEXT NOT NULL DEFAULT '';         -- '' is the run's
ALTER TABLE patches ADD COLUMN file TEXT NOT NULL DEFAULT '';

-- Refused for want of evidence alone: nothing is known against it. Only judges that answer at random leave that open.
ALTER TABLE rejections ADD COLUMN unproven INTEGER NOT NULL DEFAULT 0;
UPDATE rejections SET unproven = 1 WHERE judge NOT LIKE 'offline%';

-- Texts are in texts, under their hash.
CREATE TABLE advice (
    run_id TEXT NOT NULL REFERENCES runs (id),
    epoch  INTEGER NOT NULL,
    kind   TEXT NOT NULL CHECK (kind IN ('slow', 'meta')),
    hash   TEXT NOT NULL,
    PRIMARY KEY (run_id, epoch, kind)
) STRICT;

-- Edits that made things worse, across runs. edit is a patch's key, never its text.
CREATE TABLE harmful (
    skill_key TEXT NOT NULL,
    edit      TEXT NOT NULL,
    parent    TEXT NOT NULL,
    manifest  TEXT NOT NULL,
    judge     TEXT NOT NULL,
    run_id    TEXT NOT NULL,
    reason    TEXT NOT NULL,
    at        TEXT NOT NULL,
    PRIMARY KEY (skill_key, edit, parent, manifest, judge)
) STRICT;

CREATE TABLE baselines (
    run_id TEXT NOT NULL REFERENCES runs (id),
    name   TEXT NOT NULL,
    hash   TEXT NOT NULL,
    note   TEXT NOT NULL,
    PRIMARY KEY (run_id, name)
) STRICT;

CREATE TABLE attestations (
    hash      TEXT NOT NULL,
    path      TEXT NOT NULL,
    skill_key TEXT NOT NULL,
    run_id    TEXT NOT NULL,
    at        TEXT NOT NULL,
    PRIMARY KEY (hash, path)
) STRICT;
