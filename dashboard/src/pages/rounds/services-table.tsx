import { useState, type ReactNode } from 'react'
import { Link } from 'wouter'
import type { Round, Service } from '../../../../src/client/operations.js'
import { formatDuration } from '../../data/format.js'
import { printable } from '../../data/printable.js'
import { useMay } from '../../data/session.js'
import type { Mark } from '../../design/marks.js'
import { Button } from '../../parts/button.js'
import { LongName } from '../../parts/text/long-name.js'
import { StateMark } from '../../parts/state-mark.js'
import { Table, type Column } from '../../parts/table.js'
import { Time } from '../../parts/time.js'
import { words } from '../../words/rounds.js'
import styles from './page.module.css'
import { TimingDialog } from './timing-dialog.js'

/** A service of a round, and its result in the cycle. */
interface Row {
  readonly service: string
  readonly mark: Mark
  readonly label: string
  readonly info: string
  readonly timing: Service | undefined
}

/** The services of a round: results, what runs, what is left, what was skipped and why, and when each is due. */
export function ServicesTable({
  round,
  services,
}: {
  round: Round
  services: readonly Service[]
}): ReactNode {
  const rows = round.services.map((service) => rowOf(round, service, services))
  return (
    <Table
      label={words.servicesOf(round.name)}
      columns={columns}
      rows={rows}
      rowKey={({ service }) => service}
      isSelected={({ service }) => service === round.currentService}
    />
  )
}

function rowOf(round: Round, service: string, services: readonly Service[]): Row {
  const timing = services.find((one) => one.service === service)
  const result = round.results.find((one) => one.service === service)
  const skipped = round.skipped.find((one) => one.service === service)
  const row = { service, timing, info: '' }
  if (service === round.currentService) return { ...row, mark: 'running', label: words.service.running }
  if (result !== undefined) {
    const isOk = result.status === 'ok'
    return {
      ...row,
      mark: isOk ? 'done' : 'failed',
      label: isOk ? words.service.ok : words.service.error,
      info: result.info,
    }
  }
  if (round.remainingServices.includes(service)) {
    return { ...row, mark: 'pending', label: words.service.left }
  }
  if (skipped !== undefined) {
    return {
      ...row,
      mark: 'not-due',
      label: words.service.skipped,
      info: words.skipReasons[skipped.reason],
    }
  }
  return { ...row, mark: 'not-due', label: words.service.idle }
}

const columns: readonly Column<Row>[] = [
  {
    key: 'service',
    head: words.service.name,
    cell: ({ service }) => (
      <Link
        href={`/runs?q=${encodeURIComponent(`job:${service}`)}`}
        className={styles['service']}
        title={service}
        aria-label={service}
      >
        <LongName>{service}</LongName>
      </Link>
    ),
  },
  {
    key: 'state',
    head: words.service.state,
    cell: ({ mark, label }) => <StateMark mark={mark} label={label} />,
  },
  {
    key: 'info',
    head: words.service.info,
    grows: true,
    cell: ({ info }) => <span title={printable(info)}>{printable(info)}</span>,
  },
  {
    key: 'last',
    head: words.service.last,
    isExtra: true,
    cell: ({ timing }) => <Unix seconds={timing?.lastRunTimestamp ?? null} />,
  },
  {
    key: 'next',
    head: words.service.next,
    isExtra: true,
    cell: ({ timing }) => <Unix seconds={timing?.nextDueTimestamp ?? null} />,
  },
  {
    key: 'every',
    head: words.service.every,
    align: 'end',
    cell: ({ timing }) => (timing === undefined ? null : formatDuration(timing.intervalSeconds * 1000)),
  },
  { key: 'edit', head: '', align: 'end', cell: (row) => <EditTiming row={row} /> },
]

function Unix({ seconds }: { seconds: number | null }): ReactNode {
  if (seconds === null) return <span className="soft">{words.service.never}</span>
  return <Time at={new Date(seconds * 1000).toISOString()} />
}

function EditTiming({ row: { service, timing } }: { row: Row }): ReactNode {
  const { why } = useMay('operate')
  const [isAsking, setAsking] = useState(false)
  return (
    <>
      <Button
        tone="quiet"
        why={why}
        aria-label={words.service.editOf(service)}
        onClick={() => setAsking(true)}
      >
        {words.service.edit}
      </Button>
      {isAsking ? (
        <TimingDialog service={service} seconds={timing?.intervalSeconds} onClose={() => setAsking(false)} />
      ) : null}
    </>
  )
}
