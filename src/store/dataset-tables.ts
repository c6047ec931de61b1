/** The PostgreSQL tables of shared datasets, and of the instances that serve them. */

export const datasetTables = `
  -- Files of datasets, by their versions, and of the steps between them, FROM..TO.
  create table dataset_file (
    name text collate "C" primary key,
    sha256 text not null,
    bytes bigint not null
  );
  create table dataset_part (
    name text collate "C" not null references dataset_file on delete cascade,
    number integer not null,
    -- 1 MiB of the file, or the rest in the last part; zstd with a checksum.
    bytes bytea not null,
    primary key (name, number)
  );
  -- It is compressed already. Another attempt would take as long as everything else.
  alter table dataset_part alter column bytes set storage external;
  create table dataset (
    version text collate "C" primary key references dataset_file on delete cascade,
    facts json not null,
    -- Added by an import that is about to publish it; nobody else treats it as a dataset before.
    is_added boolean not null
  );
  create table dataset_state (
    is_only boolean primary key default true check (is_only),
    current text collate "C" references dataset,
    -- Publications, oldest first. They and the steps between them outlive the datasets.
    publications json not null default '[]',
    -- Raised by each change of a row of dataset, and of the publications.
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

/** Returns SQL for a time as RFC 3339 text, to the second in UTC. */
export const timeText = (expression: string, name: string): string =>
  `to_char(${expression} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as ${name}`;
