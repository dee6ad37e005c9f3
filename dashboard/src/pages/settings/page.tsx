import type { ReactNode } from 'react'
import { useParams } from '../../data/location.js'
import { Tabs } from '../../parts/tabs.js'
import { words } from '../../words/settings.js'
import { About } from './about.js'
import { AuditTab } from './audit-tab.js'
import styles from './page.module.css'
import { Switches } from './switches.js'
import { Tokens } from './tokens.js'

/** Switches for everything, tokens, who changed what, and what this server is. */
export default function SettingsPage(): ReactNode {
  const [params, change] = useParams()
  return (
    <div className={styles['page']}>
      <h1>{words.title}</h1>
      <Tabs
        label={words.title}
        chosen={params.get('tab') ?? 'switches'}
        onChoose={(tab) => change({ tab: tab === 'switches' ? null : tab }, { replace: true })}
        tabs={[
          { key: 'switches', title: words.tabs.switches, content: () => <Switches /> },
          { key: 'tokens', title: words.tabs.tokens, content: () => <Tokens /> },
          { key: 'audit', title: words.tabs.audit, content: () => <AuditTab /> },
          { key: 'about', title: words.tabs.about, content: () => <About /> },
        ]}
      />
    </div>
  )
}
