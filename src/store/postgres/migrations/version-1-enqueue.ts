/*
 * What lets a run be recorded in the transaction of somebody else, who may take an hour to commit. So it takes no lock
 * that others need: a run with gates waits for its turn like one that is delayed, and a unique key is locked by itself.
 */
const recordRun = `create function rota.record_run(
    run_id text, of_job text, urgency bigint, due bigint, at bigint, body text, slice text, of_gates text,
    ends smallint, key text, key_until bigint, out id text, out created boolean
  ) language plpgsql as $body$
  #variable_conflict use_column
  begin
    if key is not null then
      if current_setting('transaction_isolation') <> 'read committed' then
        raise exception 'a unique key needs a transaction at the level read committed' using errcode = '25001';
      end if;
      perform pg_advisory_xact_lock(1383036002, hashtext('rota'::name || ':' || of_job || '=' || key));
      select found.id into record_run.id from (
    select seq, id from rota.runs where job = of_job and unique_key = key and unique_key is not null and state < 4
    union
    select seq, id from rota.runs where job = of_job and unique_key = key and unique_until > at
  ) found order by seq limit 1;
      if record_run.id is not null then
        created := false;
        return;
      end if;
    end if;
    insert into rota.runs (id, job, state, priority, run_at, due_at, created_at, origin, payload, partition, gates,
      follow, unique_key, unique_until)
    values (run_id, of_job, case when due <= at and of_gates is null then 1 else 0 end, urgency, due,
      due, at, 1, body, slice, of_gates, ends, key, key_until)
    on conflict (id) do nothing;
    created := found;
    record_run.id := run_id;
    perform pg_notify('rota:' || 'rota'::name, '');
  end $body$`

/** Ten characters of the instant, then 128 random bits as 26: what the library draws as well. */
const drawId = `create function rota.draw_id(at bigint) returns text language plpgsql volatile as $body$
  declare
    letters constant text := '0123456789abcdefghjkmnpqrstvwxyz';
    bits constant bit(130) := B'00' || ('x' || replace(gen_random_uuid()::text, '-', ''))::bit(128);
    id text := '';
  begin
    for i in 0..9 loop
      id := id || substr(letters, ((at >> (5 * (9 - i))) & 31)::int + 1, 1);
    end loop;
    for i in 0..25 loop
      id := id || substr(letters, substring(bits from i * 5 + 1 for 5)::bit(5)::int + 1, 1);
    end loop;
    return id;
  end $body$`

const enqueue = `create function rota.enqueue(job text, payload jsonb default null, options jsonb default '{}')
  returns text language plpgsql as $body$
  #variable_conflict use_column
  declare
    defined jsonb;
    now_ms constant bigint := floor(extract(epoch from clock_timestamp()) * 1000);
    due bigint := now_ms;
    unknown text;
    gates jsonb := '[]';
    answer text;
  begin
    select string_agg(name, ', ') into unknown from jsonb_object_keys(options) name
      where name not in ('at', 'delay', 'priority', 'uniqueKey', 'uniqueFor', 'concurrencyKey', 'partition');
    if unknown is not null then
      raise exception 'unknown options: %', unknown using errcode = '22023',
        hint = 'allowed are at, delay, priority, uniqueKey, uniqueFor, concurrencyKey, partition';
    end if;
    select definition::jsonb into defined from rota.jobs where name = enqueue.job;
    if defined is null then
      raise exception 'no job % is defined in this store', enqueue.job using errcode = '22023';
    end if;
    if defined ? 'asset' then
      raise exception '% is an asset, whose partitions only the library knows', enqueue.job using errcode = '22023';
    end if;
    if octet_length(payload::text) > 262144 then
      raise exception 'a payload is at most 262144 bytes of JSON' using errcode = '22023';
    end if;
    if options ? 'at' then
      due := floor(extract(epoch from (options ->> 'at')::timestamptz) * 1000);
    elsif options ? 'delay' then
      due := now_ms + floor(extract(epoch from (options ->> 'delay')::interval) * 1000);
    end if;
    if jsonb_typeof(defined -> 'concurrency') = 'number' then
      gates := gates || jsonb_build_array(jsonb_build_array('job:' || enqueue.job, defined -> 'concurrency'));
    end if;
    if options ? 'concurrencyKey' then
      gates := gates || jsonb_build_array(jsonb_build_array('key:' || enqueue.job || '=' || (options ->> 'concurrencyKey'),
        coalesce(defined -> 'concurrencyPerKey', '1')));
    end if;
    select id into answer from rota.record_run(
      rota.draw_id(due), enqueue.job,
      coalesce((options ->> 'priority')::bigint, (defined ->> 'priority')::bigint, 0),
      due, now_ms, payload::text, options ->> 'partition', case when gates <> '[]' then gates::text end, null,
      options ->> 'uniqueKey',
      now_ms + floor(extract(epoch from (options ->> 'uniqueFor')::interval) * 1000)::bigint);
    return answer;
  end $body$`

/** What lets a run be recorded in the transaction of somebody else. */
export const enqueueInTransaction: readonly string[] = [recordRun, drawId, enqueue]
