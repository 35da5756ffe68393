import { createRootRoute, createRoute, createRouter, Navigate } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { consolePath } from '../api/client.ts'
import { pages } from '../pages/index.ts'
import { Loading } from '../parts/state.tsx'
import { parseSearch, stringifySearch } from './address.ts'
import { Broken } from './broken.tsx'
import { Guard } from './guard.tsx'
import { useMe } from './session.tsx'
import { Missing, Shell } from './shell.tsx'

const root = createRootRoute({ component: Shell, notFoundComponent: Missing, errorComponent: Broken })

const prefixes = { workspace: '/w/$workspace', organisation: '/org', none: '' } as const

const routes = pages.flatMap((page) =>
  page.scopes.map((scope) => {
    const Contents = lazy(() => page.load().then((component) => ({ default: component })))
    return createRoute({
      getParentRoute: () => root,
      path: `${prefixes[scope]}${page.path}`,
      errorComponent: Broken,
      component: () => (
        <Guard page={page}>
          <Suspense fallback={<Loading />}>
            <Contents />
          </Suspense>
        </Guard>
      ),
    })
  }),
)

/** Leads to the workspace in which the person acts, or to the organisation. */
function Entrance() {
  const me = useMe()
  const place = me.workspaces.find((one) => one.id === me.default_workspace) ?? me.workspaces[0]
  if (place !== undefined) return <Navigate to={`/w/${place.slug}` as never} replace />
  return <Navigate to={(me.scopes.length > 0 ? '/org' : '/me') as never} replace />
}

const entrance = createRoute({ getParentRoute: () => root, path: '/', component: Entrance })

export const router = createRouter({
  routeTree: root.addChildren([entrance, ...routes]),
  basepath: consolePath,
  parseSearch,
  stringifySearch,
  defaultPreload: false,
  scrollRestoration: false,
})
