import { Fragment, type ReactNode } from 'react'
import { detailParts } from '../../data/range-detail.js'
import { Time } from '../time.js'

/** What the ledger keeps beside the rule of a range; its instants are in the reader's zone. */
export function RangeDetail({ rule, detail }: { rule: string; detail: string | null }): ReactNode {
  return detailParts({ rule, detail }).map((part, index) => (
    // The parts of one detail never change their places.
    // oxlint-disable-next-line react/no-array-index-key
    <Fragment key={index}>
      {typeof part === 'string' ? part : <Time at={part.at} relative={false} />}
    </Fragment>
  ))
}
