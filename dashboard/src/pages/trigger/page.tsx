import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Link, useParams as usePathParts } from 'wouter'
import type { Trigger } from '../../../../src/client/operations.js'
import { isMissing } from '../../data/api.js'
import { useParams } from '../../data/location.js'
import { triggerQuery } from '../../data/triggers.js'
import { InZoneOf } from '../../data/zone.js'
import { Backfills } from '../../parts/backfill/backfills.js'
import { EmptyState, ErrorState, LoadingBar, Skeleton } from '../../parts/states.js'
import { Tabs } from '../../parts/tabs.js'
import { zoneOf } from '../../parts/why/schedule-line.js'
import { words } from '../../words/trigger.js'
import { TriggerAudit } from './audit.js'
import { Durations } from './durations.js'
import { TriggerHead } from './head.js'
import { History } from './history.js'
import { Holds } from './holds.js'
import { Next } from './next.js'
import styles from './page.module.css'
import { Policies } from './policies.js'
import { Versions } from './versions.js'
import { Year } from './year.js'

/** One trigger: what it says, when it is due next, a year of it, how long its runs take, and its history. */
export default function TriggerPage(): ReactNode {
  const { name } = usePathParts<{ name: string }>()
  const { data: trigger, error, isFetching, refetch } = useQuery(triggerQuery(decodeURIComponent(name)))
  if (isMissing(error)) {
    return (
      <>
        <h1>{decodeURIComponent(name)}</h1>
        <EmptyState title={words.missing.title(decodeURIComponent(name))}>
          {words.missing.text} <Link href="/triggers">{words.missing.list}</Link>
        </EmptyState>
      </>
    )
  }
  if (trigger === undefined) {
    return error === null ? (
      <Skeleton rows={8} />
    ) : (
      <ErrorState error={error} onRetry={() => void refetch()} />
    )
  }
  return (
    <InZoneOf zone={zoneOf(trigger)}>
      <div className={styles['page']}>
        <LoadingBar isLoading={isFetching} />
        <TriggerHead trigger={trigger} />
        <Next trigger={trigger} />
        <div className={styles['charts']}>
          <Year trigger={trigger} />
          <Durations name={trigger.name} />
        </div>
        <Details trigger={trigger} />
      </div>
    </InZoneOf>
  )
}

function Details({ trigger }: { trigger: Trigger }): ReactNode {
  const [params, change] = useParams()
  const { tabs } = words
  return (
    <Tabs
      label={words.details}
      chosen={params.get('tab') ?? 'history'}
      onChoose={(tab) => change({ tab: tab === 'history' ? null : tab }, { replace: true })}
      tabs={[
        { key: 'history', title: tabs.history, content: () => <History name={trigger.name} /> },
        { key: 'policies', title: tabs.policies, content: () => <Policies trigger={trigger} /> },
        {
          key: 'versions',
          title: tabs.versions(trigger.version),
          content: () => <Versions trigger={trigger} />,
        },
        { key: 'holds', title: tabs.holds, content: () => <Holds name={trigger.name} /> },
        {
          key: 'backfills',
          title: tabs.backfills,
          content: () => <Backfills of="trigger" name={trigger.name} />,
        },
        { key: 'audit', title: tabs.audit, content: () => <TriggerAudit name={trigger.name} /> },
      ]}
    />
  )
}
