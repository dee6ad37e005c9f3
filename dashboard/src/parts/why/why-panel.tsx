import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { Explanation, Trigger, Why } from '../../../../src/client/operations.js'
import { api } from '../../data/api.js'
import { InZoneOf } from '../../data/zone.js'
import { words } from '../../words/why.js'
import { Breaches } from '../breaches.js'
import { Button } from '../button.js'
import { CopyButton } from '../copy-button.js'
import { Dialog } from '../dialog.js'
import { ErrorState, Skeleton } from '../states.js'
import { Time } from '../time.js'
import { Answer } from './answer.js'
import { ScheduleLine, zoneOf } from './schedule-line.js'
import { useWhy, type WhyQuestion } from './why-address.js'
import styles from './why-panel.module.css'

/** The panel that answers why, if the address asks for it. It belongs to the shell: every page can open it. */
export function WhyPanel(): ReactNode {
  const [question, ask] = useWhy()
  if (question === undefined) return null
  return (
    <Dialog title={words.title(question.trigger)} kind="side" onClose={() => ask(undefined)}>
      <Body key={`${question.trigger}@${question.from}`} question={question} onAsk={ask} />
    </Dialog>
  )
}

function Body({
  question,
  onAsk,
}: {
  question: WhyQuestion
  onAsk: (question: WhyQuestion) => void
}): ReactNode {
  const { trigger, from, until = from } = question
  const { data, error, refetch } = useQuery({
    queryKey: ['why', trigger, from, until],
    queryFn: ({ signal }) => api('GET /why', { query: { trigger, from, until }, signal }),
    meta: { topics: ['runs', 'ledger', 'holds', 'triggers'] },
  })
  const { data: definition } = useQuery({
    queryKey: ['trigger', trigger],
    queryFn: ({ signal }) => api('GET /triggers/{name}', { path: { name: trigger }, signal }),
    meta: { topics: ['triggers', 'holds'] },
  })
  return (
    <InZoneOf zone={definition === undefined ? undefined : zoneOf(definition)}>
      <div className={styles['body']}>
        <p>
          <Time at={from} withOffset />
          {until === from ? null : (
            <>
              {' '}
              {words.to} <Time at={until} withOffset />
            </>
          )}
        </p>
        {definition === undefined ? null : (
          <p className="soft">
            <Link href={`/triggers/${encodeURIComponent(trigger)}`}>{trigger}</Link>:{' '}
            <ScheduleLine trigger={definition} />
          </p>
        )}
        {data === undefined ? (
          error === null ? (
            <Skeleton rows={5} />
          ) : (
            <ErrorState error={error} onRetry={() => void refetch()} />
          )
        ) : (
          <Answers why={data} definition={definition} onAsk={onAsk} />
        )}
        <div className={styles['command']}>
          <span className="soft">{words.command}</span>
          <code>{commandOf(question)}</code>
          <CopyButton text={commandOf(question)} />
        </div>
      </div>
    </InZoneOf>
  )
}

function Answers({
  why,
  definition,
  onAsk,
}: {
  why: Why
  definition: Trigger | undefined
  onAsk: (question: WhyQuestion) => void
}): ReactNode {
  const { trigger, explanations, beside, breaches, earlier, more, fromAt } = why
  const [first] = explanations
  return (
    <>
      {earlier === 0 || first === undefined ? null : (
        <p className="soft">
          {words.earlier(earlier)}{' '}
          <Button tone="quiet" onClick={() => onAsk({ trigger, from: fromAt, until: startOf(first) })}>
            {words.showEarlier}
          </Button>
        </p>
      )}
      <ol className={styles['answers']}>
        {explanations.map((one) => (
          <li key={`${one.kind} ${startOf(one)}`}>
            <Answer explanation={one} definition={definition} onAsk={(from) => onAsk({ trigger, from })} />
          </li>
        ))}
      </ol>
      {more && earlier === 0 ? <p className="soft">{words.later}</p> : null}
      <Breaches breaches={breaches} />
      {beside.length === 0 ? null : (
        <section>
          <h3>{words.beside}</h3>
          <ol className={styles['answers']}>
            {beside.map((run) => (
              <li key={run.id}>
                <Answer
                  explanation={{ kind: 'run', at: run.dueAt, run, pending: run.pending }}
                  onAsk={() => undefined}
                />
              </li>
            ))}
          </ol>
        </section>
      )}
    </>
  )
}

function startOf(one: Explanation): string {
  return 'at' in one ? one.at : one.firstAt
}

function commandOf({ trigger, from, until }: WhyQuestion): string {
  const name = /^[\w.:@/-]+$/.test(trigger) ? trigger : `'${trigger.replaceAll("'", String.raw`'\''`)}'`
  return `rota why ${name} ${from}${until === undefined || until === from ? '' : `..${until}`}`
}
