/** The table of servers on the shared datasets. Each notes every few seconds that it runs, and its dataset. */
import { timeText } from "#store/dataset-tables.ts";
import type { PostgresSession } from "#store/postgres.ts";

/** A server on the shared datasets. */
export interface Instance {
  id: string;
  host: string;
  pid: number;
  /** Time of its start, RFC 3339. */
  startedAt: string;
  program: string;
  /** Formats that it can read, as `ownFormat`. */
  formats: readonly string[];
  /** Version that it serves; null while it serves none. */
  served: string | null;
}

export interface SeenInstance extends Instance {
  /** Time when it was last seen, RFC 3339, by the clock of the database. */
  seenAt: string;
  /** Was it seen lately enough to count as running? */
  isLive: boolean;
}

export interface Instances {
  /** Notes that a server runs, and forgets servers that were not seen for a day. */
  note(instance: Instance): Promise<void>;
  forget(id: string): Promise<void>;
  /** Lists servers by host and process. */
  list(): Promise<SeenInstance[]>;
}

/** Seconds until a silent instance no longer counts. It notes every two seconds that it runs. */
const liveSeconds = 15;

export const openInstances = ({ query }: Pick<PostgresSession, "query">): Instances => ({
  async note({ id, host, pid, startedAt, program, formats, served }) {
    await query(noteSql, [id, host, pid, startedAt, program, formats, served]);
  },
  async forget(id) {
    await query("delete from instance where id = $1", [id]);
  },
  async list() {
    const rows = await query<Row>(listSql);
    return rows.map(({ started_at, seen_at, is_live, ...rest }) => {
      return { ...rest, startedAt: started_at, seenAt: seen_at, isLive: is_live };
    });
  },
});

const noteSql = `
  with old as (delete from instance where seen_at < now() - interval '1 day' and id <> $1)
  insert into instance (id, host, pid, started_at, seen_at, program, formats, served)
  values ($1, $2, $3, $4, now(), $5, $6, $7)
  on conflict (id) do update set seen_at = now(), served = excluded.served`;

type Row = Pick<Instance, "id" | "host" | "pid" | "program" | "formats" | "served"> & {
  started_at: string;
  seen_at: string;
  is_live: boolean;
};

const listSql = `select id, host, pid, ${timeText("started_at", "started_at")}, ${timeText("seen_at", "seen_at")},
    seen_at > now() - interval '${liveSeconds} seconds' as is_live, program, formats, served
  from instance order by host, pid, id`;
