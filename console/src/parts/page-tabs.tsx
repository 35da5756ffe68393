import { Tabs } from '@mantine/core'
import type { ReactNode } from 'react'
import { useAddress } from '../shell/address.ts'

interface PageTabsProps {
  readonly label: string
  /** The first one is shown unless the address names another. */
  readonly tabs: readonly (readonly [id: string, label: string, contents: () => ReactNode])[]
}

/** The tabs of a page; the open one is in the address. */
export function PageTabs({ label, tabs }: PageTabsProps) {
  const [search, change] = useAddress()
  const first = tabs[0]?.[0] ?? ''
  const open = tabs.find(([id]) => id === search['tab'])?.[0] ?? first
  return (
    <Tabs value={open} onChange={(to) => change({ tab: to === first ? '' : (to ?? '') })} keepMounted={false}>
      <Tabs.List aria-label={label}>
        {tabs.map(([id, name]) => (
          <Tabs.Tab key={id} value={id}>
            {name}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {tabs.map(([id, , contents]) => (
        <Tabs.Panel key={id} value={id} className="panel">
          {id === open && contents()}
        </Tabs.Panel>
      ))}
    </Tabs>
  )
}
