import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import type { Hold, Operations } from '../../../../src/client/operations.js'
import { api } from '../../data/api.js'
import { holdQuery } from '../../data/holds.js'
import { printable } from '../../data/printable.js'
import { useMay } from '../../data/session.js'
import { Button } from '../../parts/button.js'
import { StateMark } from '../../parts/state-mark.js'
import { ErrorState, Skeleton } from '../../parts/states.js'
import { ThawDialog } from '../../parts/thaw-dialog.js'
import { Time } from '../../parts/time.js'
import { words } from '../../words/settings.js'
import styles from './page.module.css'
import { FreezeDialog, SwitchDialog } from './switch-dialogs.js'

/** One of the kill switches. */
export type Switch = Operations['GET /switches']['answer']['items'][number]

/** The freeze and the three kill switches, each with what it does and who used it. */
export function Switches(): ReactNode {
  const { data, error, refetch } = useQuery({
    queryKey: ['switches'],
    queryFn: ({ signal }) => api('GET /switches', { signal }),
    meta: { topics: ['holds'] },
  })
  const { data: freeze } = useQuery(holdQuery('all'))
  if (data === undefined) {
    return error === null ? <Skeleton /> : <ErrorState error={error} onRetry={() => void refetch()} />
  }
  return (
    <ul className={styles['switches']}>
      <FreezeRow freeze={freeze ?? undefined} />
      {data.items.map((one) => (
        <SwitchRow key={one.name} one={one} />
      ))}
    </ul>
  )
}

function FreezeRow({ freeze }: { freeze: Hold | undefined }): ReactNode {
  const { why } = useMay('admin')
  // As it was when the button was pressed: the dialog does not change while it is open.
  const [asked, setAsked] = useState<{ readonly freeze: Hold | undefined }>()
  const close = (): void => setAsked(undefined)
  return (
    <li className={styles['switch']}>
      <div className={styles['told']}>
        <h3>{words.freeze.name}</h3>
        <p className="soft">{words.freeze.about}</p>
        {freeze === undefined ? (
          <StateMark mark="on" label={words.freeze.off} />
        ) : (
          <HeldBy hold={freeze} mark="frozen" />
        )}
      </div>
      <Button tone={freeze === undefined ? 'danger' : 'main'} why={why} onClick={() => setAsked({ freeze })}>
        {freeze === undefined ? words.freeze.freeze : words.freeze.thaw}
      </Button>
      {asked === undefined ? null : asked.freeze === undefined ? (
        <FreezeDialog onClose={close} />
      ) : (
        <ThawDialog freeze={asked.freeze} onClose={close} />
      )}
    </li>
  )
}

function SwitchRow({ one }: { one: Switch }): ReactNode {
  const { why } = useMay('admin')
  const client = useQueryClient()
  const [asked, setAsked] = useState<Switch>()
  const { name, isOn, hold } = one
  return (
    <li className={styles['switch']}>
      <div className={styles['told']}>
        <h3>{words.switches[name].name}</h3>
        <p className="soft">{words.switches[name].about}</p>
        {isOn || hold === null ? (
          <StateMark mark={isOn ? 'on' : 'switch'} label={isOn ? words.on : words.off} />
        ) : (
          <HeldBy hold={hold} mark="switch" />
        )}
      </div>
      <Button tone={isOn ? 'danger' : 'main'} why={why} onClick={() => setAsked(one)}>
        {isOn ? words.turnOff : words.turnOn}
      </Button>
      {asked === undefined ? null : (
        <SwitchDialog
          one={asked}
          onClose={() => {
            setAsked(undefined)
            void client.invalidateQueries({ queryKey: ['switches'] })
          }}
        />
      )}
    </li>
  )
}

function HeldBy({ hold, mark }: { hold: Hold; mark: 'frozen' | 'switch' }): ReactNode {
  return (
    <p className={styles['line']}>
      <StateMark
        mark={mark}
        label={mark === 'frozen' ? words.frozenBy(printable(hold.by)) : words.heldBy(printable(hold.by))}
      />
      <span>
        {words.since} <Time at={hold.fromAt} />
      </span>
      {hold.note === '' ? null : <q>{printable(hold.note)}</q>}
      {hold.untilAt === null ? null : (
        <span>
          {words.until} <Time at={hold.untilAt} />
        </span>
      )}
    </p>
  )
}
