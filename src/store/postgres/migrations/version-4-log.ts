// Relies on: the unique index of runs.id and the primary key of log_use. A row that is not there yet is locked by nobody:
// where two begin the log of one run at the same time, the second finds its number taken, and goes the other way.
/** Adds lines to logs. */
export const appendLog = `create function rota.append_log(
    ids text[], attempts integer[], ats bigint[], levels text[], texts text[], sizes bigint[]
  ) returns void language plpgsql as $body$
  begin
    perform 1 from rota.log_use where run = any(array(select seq from rota.runs where id = any(ids)))
      order by run for update;
    with given as (
      select runs.seq as run, line.n, line.attempt, line.at, line.level, line.text, line.size, used.lines, used.bytes,
        count(*) over each as nth, sum(line.size) over each as so_far
      from unnest(ids, attempts, ats, levels, texts, sizes) with ordinality line (id, attempt, at, level, text, size, n)
      join rota.runs on runs.id = line.id left join rota.log_use used on used.run = runs.seq
      where used.is_cut is distinct from 1
      window each as (partition by runs.seq order by line.n)
    ), judged as (
      select *, coalesce(lines, 0) + nth > 1000 or coalesce(bytes, 0) + so_far > 262144 as is_over from given
    ), counted as materialized (
      select *, count(*) filter (where not is_over) over (partition by run) as fitting from judged
    ), appended as (
      insert into rota.logs (run, seq, attempt, at, level, text)
      select run, coalesce(lines, 0) + nth, attempt, at, case when is_over then 'warn' else level end,
        case when is_over then '[output cut: a run keeps 1000 lines and 256 KiB of output]' else text end
      from counted where nth <= fitting + 1
    )
    insert into rota.log_use (run, lines, bytes, is_cut)
    select run, max(coalesce(lines, 0) + fitting), max(coalesce(bytes, 0)) + coalesce(sum(size) filter (where not is_over), 0),
      max(is_over::int)
    from counted group by run order by run
    on conflict (run) do update set lines = excluded.lines, bytes = excluded.bytes, is_cut = excluded.is_cut;
  end $body$`
