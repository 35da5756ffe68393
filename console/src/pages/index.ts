import type { ComponentType } from 'react'

/** A page of the console. */
export interface PageEntry {
  readonly id: string
  /** Where it shows things: in a workspace, the organisation, or without either. */
  readonly scopes: readonly ('workspace' | 'organisation' | 'none')[]
  /** The path below the scope. */
  readonly path: string
  /** Rights of which one is enough; empty: everybody who is signed in. */
  readonly needs: readonly string[]
  /** The feature that it shows; absent: it needs none. */
  readonly feature?: string
  /** Its entry in the navigation. */
  readonly nav?: { readonly group: string; readonly label: string }
  readonly load: () => Promise<ComponentType>
}

/** The table of contents of the console, in the order of its navigation. */
export const pages: readonly PageEntry[] = [
  {
    id: 'home',
    scopes: ['workspace', 'organisation'],
    path: '/',
    needs: [],
    nav: { group: '', label: 'Home' },
    load: () => import('./home/page.tsx').then((page) => page.HomePage),
  },
  {
    id: 'logs',
    feature: 'logs',
    scopes: ['workspace', 'organisation'],
    path: '/logs',
    needs: ['logs.list'],
    nav: { group: 'Observe', label: 'Logs' },
    load: () => import('./logs/page.tsx').then((page) => page.LogsPage),
  },
  {
    id: 'log',
    feature: 'logs',
    scopes: ['workspace', 'organisation'],
    path: '/logs/$logId',
    needs: ['logs.view', 'logs.list'],
    load: () => import('./logs/log-page.tsx').then((page) => page.LogPage),
  },
  {
    id: 'keys',
    feature: 'api-keys',
    scopes: ['workspace'],
    path: '/keys',
    needs: ['workspace_service_api_keys.list', 'workspace_user_api_keys.list'],
    nav: { group: 'Control', label: 'API keys' },
    load: () => import('./keys/page.tsx').then((page) => page.KeysPage),
  },
  {
    id: 'key',
    feature: 'api-keys',
    scopes: ['workspace'],
    path: '/keys/$keyId',
    needs: ['workspace_service_api_keys.read', 'workspace_user_api_keys.read'],
    load: () => import('./keys/key-page.tsx').then((page) => page.KeyPage),
  },
  {
    id: 'organisation-keys',
    feature: 'api-keys',
    scopes: ['organisation'],
    path: '/keys',
    needs: ['organisation_service_api_keys.list'],
    nav: { group: 'Govern', label: 'Organisation keys' },
    load: () => import('./keys/page.tsx').then((page) => page.KeysPage),
  },
  {
    id: 'organisation-key',
    feature: 'api-keys',
    scopes: ['organisation'],
    path: '/keys/$keyId',
    needs: ['organisation_service_api_keys.read'],
    load: () => import('./keys/key-page.tsx').then((page) => page.KeyPage),
  },
  {
    id: 'providers',
    feature: 'providers',
    scopes: ['workspace'],
    path: '/providers',
    needs: ['providers.list', 'virtual_keys.list'],
    nav: { group: 'Control', label: 'Providers' },
    load: () => import('./providers/page.tsx').then((page) => page.ProvidersPage),
  },
  {
    id: 'provider',
    feature: 'providers',
    scopes: ['workspace'],
    path: '/providers/$slug',
    needs: ['providers.read'],
    load: () => import('./providers/provider-page.tsx').then((page) => page.ProviderPage),
  },
  {
    id: 'integrations',
    feature: 'integrations',
    scopes: ['organisation'],
    path: '/integrations',
    needs: ['organisation_integrations.list'],
    nav: { group: 'Govern', label: 'Integrations' },
    load: () => import('./providers/integrations-page.tsx').then((page) => page.IntegrationsPage),
  },
  {
    id: 'integration',
    feature: 'integrations',
    scopes: ['organisation'],
    path: '/integrations/$slug',
    needs: ['organisation_integrations.read'],
    load: () => import('./providers/integration-page.tsx').then((page) => page.IntegrationPage),
  },
  {
    id: 'system',
    scopes: ['organisation'],
    path: '/system',
    needs: [],
    nav: { group: 'Operate', label: 'System' },
    load: () => import('./system/page.tsx').then((page) => page.SystemPage),
  },
  {
    id: 'me',
    scopes: ['none'],
    path: '/me',
    needs: [],
    load: () => import('./me/page.tsx').then((page) => page.MePage),
  },
  {
    id: 'start',
    scopes: ['none'],
    path: '/start',
    needs: [],
    load: () => import('./start/page.tsx').then((page) => page.StartPage),
  },
]
