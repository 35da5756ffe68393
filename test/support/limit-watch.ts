import type { ClientConfig } from 'pg'
import { inDatabase } from './database.ts'

/** Looks at every counter of limits at the end of every transaction that touched it, in any process. */
export interface LimitWatch {
  /** The counters that granted more than their limit, or had more in leases than they granted, as they stood then. */
  faults(): Promise<readonly string[]>
  /** How often it has looked. */
  looks(): Promise<number>
}

/** Has a schema of its own: every other table must have row-level security, or no process starts. */
const watching = (limits: readonly string[]): string => `
  CREATE SCHEMA watching;
  CREATE SEQUENCE watching.looks;
  CREATE TABLE watching.faults (fault text NOT NULL);
  CREATE TABLE watching.limits (pattern text NOT NULL, most numeric NOT NULL);
  INSERT INTO watching.limits VALUES ${limits.join(', ')};
  CREATE FUNCTION watching.look() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public AS $$
  DECLARE
    looked text := coalesce(to_jsonb(NEW), to_jsonb(OLD)) ->> TG_ARGV[0];
    given numeric;
    held numeric;
  BEGIN
    PERFORM nextval('watching.looks');
    SELECT coalesce(sum(v.value::text::bigint), 0) INTO given FROM limit_counters c, jsonb_each(c.granted) v WHERE c.id = looked;
    SELECT coalesce(sum(l.amount), 0) INTO held FROM limit_leases l WHERE l.counter = looked;
    INSERT INTO watching.faults
    SELECT format('%s: %s granted of %s, %s leased', looked, given, w.most, held) FROM watching.limits w
     WHERE looked LIKE w.pattern AND (given > w.most OR held > given);
    RETURN NULL;
  END $$;
  CREATE CONSTRAINT TRIGGER watched AFTER INSERT OR UPDATE ON limit_counters DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION watching.look('id');
  CREATE CONSTRAINT TRIGGER watched AFTER INSERT OR UPDATE OR DELETE ON limit_leases DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION watching.look('counter')`

/** Watches the counters of a database. `limits`: the most that a counter may grant, by the pattern (of LIKE) of its name. */
export async function watchLimits(superuser: ClientConfig, limits: Readonly<Record<string, number>>): Promise<LimitWatch> {
  const rows = Object.entries(limits).map(([pattern, most]) => `('${pattern}', ${most})`)
  const ask = async (text: string) => (await inDatabase(superuser, (client) => client.query<{ told: string }>(text))).rows
  await ask(watching(rows))
  return {
    faults: async () => (await ask('SELECT DISTINCT fault AS told FROM watching.faults LIMIT 20')).map(({ told }) => told),
    looks: async () => Number((await ask('SELECT last_value AS told FROM watching.looks'))[0]?.told ?? 0),
  }
}
