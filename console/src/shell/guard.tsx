import type { ReactNode } from 'react'
import { Page } from '../parts/page.tsx'
import { Forbidden, State } from '../parts/state.tsx'
import { may, useScope } from './scope.ts'

interface GuardProps {
  readonly needs: readonly string[]
  readonly children: ReactNode
}

/** Shows a page to people who may see it, and the reason to others. The console mirrors the rights; the API decides. */
export function Guard({ needs, children }: GuardProps) {
  const scope = useScope()
  if (scope === null)
    return (
      <Page title="Not found">
        <State title="There is no such workspace here." alert>
          <p>It may have been archived, or you have no place in it.</p>
        </State>
      </Page>
    )
  if (needs.length > 0 && !needs.some((right) => may(scope, right)))
    return (
      <Page title="Forbidden">
        <Forbidden right={needs[0] ?? ''} />
      </Page>
    )
  return children
}
