/** What PostgreSQL has for the move of an installation, as the text of one migration. */
import { movedState } from "./move-mark.ts";

/** The triggers are made by `copy` when the source is to change no more, so that until then nothing pays for them. */
export const moveTables = `
  create table move (
    is_only boolean primary key default true check (is_only),
    id text not null,
    side text not null check (side in ('source', 'target')),
    other text not null,
    begun_at text not null,
    done_at text
  );
  create function refuse_moved() returns trigger language plpgsql as $$
  begin
    raise exception using errcode = '${movedState}', message = 'this installation was moved away';
  end $$;
`;
