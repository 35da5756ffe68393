import { pages, type PageEntry } from '../pages/index.ts'
import { may, type Scope } from './scope.ts'

/** Returns the pages of a scope that the person may open. */
export const pagesOf = (scope: Scope): readonly PageEntry[] =>
  pages.filter(
    ({ scopes, nav, needs }) =>
      nav !== undefined && scopes.includes(scope.kind) && (needs.length === 0 || needs.some((right) => may(scope, right))),
  )

/** Returns the path of a scope in the console. */
export const scopePath = (scope: Pick<Scope, 'kind' | 'slug'>): string => (scope.kind === 'workspace' ? `/w/${scope.slug}` : '/org')

/** Returns the address of a page in a scope. */
export const addressOf = (scope: Scope, page: PageEntry): string => (page.path === '/' ? scopePath(scope) : scopePath(scope) + page.path)
