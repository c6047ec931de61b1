/** The PostgreSQL tables for shared datasets, and for the instances that serve them. */

export const datasetTables = `
  -- Files of datasets, named by version, and of the steps between datasets, named FROM..TO.
  create table dataset_file (
    name text collate "C" primary key,
    sha256 text not null,
    bytes bigint not null
  );
  create table dataset_part (
    name text collate "C" not null references dataset_file on delete cascade,
    number integer not null,
    -- 1 MiB of the file, or the rest in the last part, compressed with zstd and a checksum.
    bytes bytea not null,
    primary key (name, number)
  );
  -- The bytes are compressed already. A second attempt would take as long as everything else together.
  alter table dataset_part alter column bytes set storage external;
  create table dataset (
    version text collate "C" primary key references dataset_file on delete cascade,
    facts json not null,
    -- True until the import that added it publishes it. Until then nobody else treats it as a dataset.
    is_added boolean not null
  );
  create table dataset_state (
    is_only boolean primary key default true check (is_only),
    current text collate "C" references dataset,
    -- Publications, oldest first. They and the steps between them outlive the datasets.
    publications json not null default '[]',
    -- Incremented by each change to a row of dataset or to the publications.
    change bigint not null default 0
  );
  insert into dataset_state default values;
  create table instance (
    id text primary key,
    host text not null,
    pid integer not null,
    started_at timestamptz not null default now(),
    seen_at timestamptz not null,
    program text not null,
    formats text[] not null,
    served text collate "C"
  );
`;

/** Returns SQL for a time as RFC 3339 text in UTC, to the second. @param name name of the result column. */
export const timeText = (expression: string, name: string): string =>
  `to_char(${expression} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as ${name}`;
