import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { api } from '../../data/api.js'
import { printable } from '../../data/printable.js'
import { Button } from '../../parts/button.js'
import { Dialog } from '../../parts/dialog.js'
import { JsonBlock } from '../../parts/text/json-block.js'
import head from '../../parts/page-head.module.css'
import { ErrorState, Skeleton } from '../../parts/states.js'
import { words } from '../../words/sensors.js'
import styles from './page.module.css'

/** Polls the sensor once and shows what it would find. Changes nothing. */
export function PreviewDialog({ name, onClose }: { name: string; onClose: () => void }): ReactNode {
  const { data, error, refetch, isFetching } = useQuery({
    queryKey: ['sensor', name, 'preview'],
    queryFn: ({ signal }) => api('POST /sensors/{name}/preview', { path: { name }, body: {}, signal }),
    meta: { isFixed: true },
    retry: false,
    gcTime: 0,
  })
  return (
    <Dialog title={words.preview.title(name)} onClose={onClose}>
      <div className={styles['dialog']}>
        <p className="soft">{words.preview.text}</p>
        {data === undefined ? (
          error === null ? (
            <Skeleton />
          ) : (
            <ErrorState error={error} onRetry={() => void refetch()} />
          )
        ) : (
          <>
            <p>
              <strong>{words.kinds[data.kind]}</strong>
              {data.reason === null ? '' : `: ${printable(data.reason)}`}
            </p>
            {data.observations.length === 0 ? null : (
              <>
                <h3>{words.preview.found(data.observations.length, data.more)}</h3>
                <JsonBlock value={data.observations} />
              </>
            )}
            <h3>{words.preview.state}</h3>
            <JsonBlock value={{ before: data.before, after: data.after }} />
          </>
        )}
        <div className={head['actions']}>
          <Button onClick={() => void refetch()} disabled={isFetching}>
            {words.preview.again}
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
