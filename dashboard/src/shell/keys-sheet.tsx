import type { ReactNode } from 'react'
import { useSetting } from '../data/settings.js'
import { Dialog } from '../parts/dialog.js'
import { words } from '../words/shell.js'
import styles from './keys-sheet.module.css'
import { useBoundKeys, type KeyBinding } from './keys.js'

/** Lists the keys that are bound now, those of the page first. */
export function KeysSheet({ onClose }: { onClose: () => void }): ReactNode {
  const bound = useBoundKeys()
  const [setting, keep] = useSetting('keys')
  const isOn = setting !== 'off'
  return (
    <Dialog title={words.keys.title} onClose={onClose}>
      <div className={styles['sheet']}>
        <Group title={words.keys.here} bindings={bound.filter(({ isGlobal }) => isGlobal !== true)} />
        <Group title={words.keys.everywhere} bindings={bound.filter(({ isGlobal }) => isGlobal === true)} />
        <label className={styles['switch']}>
          <input type="checkbox" checked={isOn} onChange={() => keep(isOn ? 'off' : null)} />
          {isOn ? words.keys.on : words.keys.off}
        </label>
      </div>
    </Dialog>
  )
}

function Group({ title, bindings }: { title: string; bindings: readonly KeyBinding[] }): ReactNode {
  if (bindings.length === 0) return null
  return (
    <section>
      <h3>{title}</h3>
      <dl className={styles['keys']}>
        {bindings.map(({ keys, label }) => (
          <div key={keys}>
            <dt>
              {keys.split(' ').map((key) => (
                <kbd key={key}>{key.replace('mod+', 'Ctrl/⌘ ')}</kbd>
              ))}
            </dt>
            <dd>{label}</dd>
          </div>
        ))}
      </dl>
    </section>
  )
}
