import { useMemo, useRef, type ReactNode } from 'react'
import { Link } from 'wouter'
import type { Run } from '../../../../src/client/operations.js'
import { formatDuration } from '../../data/format.js'
import { printable } from '../../data/printable.js'
import { runMark, useAttempts } from '../../data/runs.js'
import { useCursor } from '../../parts/cursor.js'
import { LongName } from '../../parts/text/long-name.js'
import { StateMark } from '../../parts/state-mark.js'
import { Table, type Column } from '../../parts/table.js'
import { Time } from '../../parts/time.js'
import { askWhy } from '../../parts/why/why-address.js'
import { WhyButton } from '../../parts/why/why-button.js'
import { attemptCell, attemptText } from '../../words/run.js'
import { words } from '../../words/runs.js'
import styles from './page.module.css'
import { extended, isSelected, noSelection, toggled, type Selection } from './selection.js'

/** The rows of the list: to open, to select, to ask why. */
export function RunsTable({
  runs,
  selection,
  onSelect,
  onOpen,
}: {
  runs: readonly Run[]
  selection: Selection
  onSelect: (selection: Selection) => void
  onOpen: (id: string) => void
}): ReactNode {
  const last = useRef<string>(undefined)
  const ids = useMemo(() => runs.map(({ id }) => id), [runs])
  const select = (id: string, isRange: boolean): void => {
    const [from, to] = [ids.indexOf(last.current ?? id), ids.indexOf(id)].toSorted((a, b) => a - b)
    const range = ids.slice(from, (to ?? 0) + 1)
    onSelect(isRange && range.length > 1 ? extended(selection, range) : toggled(selection, id, ids))
    last.current = id
  }
  const why = (id: string): void => {
    const run = runs.find((one) => one.id === id)
    if (run !== undefined && run.trigger !== null) askWhy({ trigger: run.trigger, from: run.dueAt })
  }
  const cursor = useCursor(
    ids,
    [
      { keys: 'x', label: words.keys.select, act: (id) => select(id, false) },
      { keys: 'Enter', label: words.keys.open, act: onOpen },
      { keys: 'e', label: words.keys.why, act: why },
    ],
    words.keys,
  )
  const allowed = useAttempts(runs.map(({ job }) => job))
  const columns = useMemo(() => columnsOf(allowed), [allowed])
  const isAll = ids.length > 0 && ids.every((id) => isSelected(selection, id))
  const box: Column<Run> = {
    key: 'select',
    head: (
      <label className={styles['selectAll']}>
        <input
          type="checkbox"
          aria-label={words.selectAll}
          checked={isAll}
          onChange={() => onSelect(isAll ? noSelection : new Set(ids))}
        />
        <span>{words.selectAll}</span>
      </label>
    ),
    cell: ({ id }) => (
      <input
        type="checkbox"
        aria-label={words.selectRun(id)}
        checked={isSelected(selection, id)}
        onChange={({ nativeEvent }) => select(id, nativeEvent instanceof MouseEvent && nativeEvent.shiftKey)}
      />
    ),
  }
  return (
    <Table
      label={words.label}
      columns={[box, ...columns]}
      rows={runs}
      rowKey={({ id }) => id}
      isSelected={({ id }) => isSelected(selection, id)}
      cursor={cursor.at}
    />
  )
}

const { columns: heads } = words
const columnsOf = (allowed: ReadonlyMap<string, number>): readonly Column<Run>[] => [
  { key: 'state', head: heads.state, cell: (run) => <StateMark mark={runMark(run)} /> },
  {
    key: 'name',
    head: heads.name,
    cell: ({ id, trigger, job }) => (
      <Link
        href={`/runs/${id}`}
        className={styles['name']}
        title={trigger ?? job}
        aria-label={trigger ?? job}
      >
        <LongName>{trigger ?? job}</LongName>
      </Link>
    ),
  },
  {
    key: 'error',
    head: heads.error,
    grows: true,
    cell: ({ error, state, partition, result }) => (
      <bdi className="soft" title={error?.message}>
        {partition === null ? null : <code>{printable(partition)} </code>}
        {state === 'done' ? resultText(result) : error === null ? null : printable(error.message)}
      </bdi>
    ),
  },
  {
    key: 'id',
    head: heads.id,
    isExtra: true,
    cell: ({ id }) => <code className="soft">{id.slice(0, 16)}</code>,
  },
  {
    key: 'attempt',
    head: heads.attempt,
    align: 'end',
    isExtra: true,
    cell: (run) => (
      <span title={attemptText(run, allowed.get(run.job))}>{attemptCell(run, allowed.get(run.job))}</span>
    ),
  },
  { key: 'due', head: heads.due, align: 'end', cell: ({ dueAt }) => <Time at={dueAt} /> },
  {
    key: 'took',
    head: heads.took,
    align: 'end',
    isExtra: true,
    cell: ({ startedAt, finishedAt }) =>
      startedAt === null || finishedAt === null
        ? null
        : formatDuration(Date.parse(finishedAt) - Date.parse(startedAt)),
  },
  {
    key: 'why',
    head: <span className="visually-hidden">{words.keys.why}</span>,
    isExtra: true,
    cell: ({ trigger, dueAt }) => (trigger === null ? null : <WhyButton trigger={trigger} from={dueAt} />),
  },
]

/** As much of a result as a row shows: what a command printed, or the JSON. */
function resultText(result: unknown): string {
  if (result === null || result === undefined) return ''
  const { stdout } = result as { readonly stdout?: unknown }
  return printable((typeof stdout === 'string' ? stdout : JSON.stringify(result)).slice(0, shownOfResult))
}

const shownOfResult = 200
