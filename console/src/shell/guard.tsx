import type { ReactNode } from 'react'
import { Page } from '../parts/page.tsx'
import { Forbidden, State } from '../parts/state.tsx'
import type { PageEntry } from '../pages/index.ts'
import { isAllowed, isOn } from './places.ts'
import { useScope } from './scope.ts'

interface GuardProps {
  readonly page: PageEntry
  readonly children: ReactNode
}

/** Shows a page to people who may see it, and the reason to others. The console mirrors the rights; the API decides. */
export function Guard({ page, children }: GuardProps) {
  const scope = useScope()
  if (scope === null)
    return (
      <Page title="Not found">
        <State title="There is no such workspace here." alert>
          <p>It may have been archived, or you have no place in it.</p>
        </State>
      </Page>
    )
  if (!isOn(page, scope))
    return (
      <Page title="Switched off">
        <State title="This is switched off in this installation." alert>
          <p>The feature {page.feature} is off, or comes with a later release than the level of this installation.</p>
        </State>
      </Page>
    )
  if (!isAllowed(page, scope))
    return (
      <Page title="Forbidden">
        <Forbidden right={page.needs[0] ?? ''} />
      </Page>
    )
  return children
}
