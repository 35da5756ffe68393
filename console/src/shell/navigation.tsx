import { NativeSelect } from '@mantine/core'
import { Link, useLocation, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { rootPath } from '../api/client.ts'
import { pages } from '../pages/index.ts'
import { AccountMenu } from './account-menu.tsx'
import { PaletteButton } from './palette.tsx'
import { addressOf, pagesOf, scopePath } from './places.ts'
import { useScope } from './scope.ts'
import { useMe } from './session.tsx'

/** The sidebar: the scope, its pages, and at the foot the build and the person. */
export function Sidebar({ onLeave, open }: { readonly onLeave: () => void; readonly open: boolean }) {
  const me = useMe()
  const scope = useScope()
  const entries = scope === null ? [] : pagesOf(scope)
  const groups = Map.groupBy(entries, (page) => page.nav?.group ?? '')
  return (
    <nav className="sidebar" aria-label="Main" id="navigation" {...(open && { 'data-open': true })}>
      <ScopeSwitcher />
      <PaletteButton />
      {[...groups].map(([group, list]) => (
        <div key={group}>
          {group !== '' && <h2 id={`group-${group}`}>{group}</h2>}
          <ul {...(group !== '' && { 'aria-labelledby': `group-${group}` })}>
            {list.map((page) => (
              <li key={page.id}>
                <Link
                  to={(scope === null ? '/' : addressOf(scope, page)) as never}
                  activeOptions={{ exact: page.path === '/', includeSearch: false }}
                  onClick={onLeave}
                >
                  {page.nav?.label}
                </Link>
              </li>
            ))}
          </ul>
        </div>
      ))}
      <footer>
        <a href={`${rootPath}/docs`}>API page</a>
        <span>
          {me.installation.version} at level {me.installation.level}
        </span>
        <AccountMenu />
      </footer>
    </nav>
  )
}

const organisationValue = '/org'

/** Changes the scope and keeps the page, where the other scope has it. */
function ScopeSwitcher() {
  const me = useMe()
  const scope = useScope()
  const navigate = useNavigate()
  const { pathname, search } = useLocation()
  const [value, setValue] = useState<string | null>(null)
  const current = scope === null ? organisationValue : scopePath(scope)
  const options = [
    ...me.workspaces.map(({ slug, name, role }) => ({ value: `/w/${slug}`, label: `${name} (${role})` })),
    ...(me.scopes.length > 0 ? [{ value: organisationValue, label: `${me.organisation.name} (organisation)` }] : []),
  ]
  const change = (to: string) => {
    setValue(to)
    const page = pathname.startsWith(`${current}/`) ? (pathname.slice(current.length).split('/')[1] ?? '') : ''
    const kind = to === organisationValue ? 'organisation' : 'workspace'
    const isThere = pages.some(({ scopes, path }) => scopes.includes(kind) && path === `/${page}`)
    void navigate({ to: (isThere && page !== '' ? `${to}/${page}` : to) as never, search: (isThere ? search : {}) as never })
  }
  return (
    <NativeSelect
      label="Workspace"
      data={options}
      value={options.some((option) => option.value === current) ? current : (value ?? '')}
      onChange={(event) => change(event.currentTarget.value)}
    />
  )
}
