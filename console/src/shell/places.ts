import { pages, type PageEntry } from '../pages/index.ts'
import { may, type Scope } from './scope.ts'

/** Returns true if the feature that a page shows is on. */
export const isOn = ({ feature }: Pick<PageEntry, 'feature'>, scope: Scope): boolean =>
  feature === undefined || scope.features.includes(feature)

/** Returns true if a person has one of the rights that a page needs. */
export const isAllowed = ({ needs }: Pick<PageEntry, 'needs'>, scope: Scope): boolean =>
  needs.length === 0 || needs.some((right) => may(scope, right))

/** Returns the pages of a scope that the person may open. */
export const pagesOf = (scope: Scope): readonly PageEntry[] =>
  pages.filter((page) => page.nav !== undefined && page.scopes.includes(scope.kind) && isOn(page, scope) && isAllowed(page, scope))

/** Returns the path of a scope in the console. */
export const scopePath = (scope: Pick<Scope, 'kind' | 'slug'>): string => (scope.kind === 'workspace' ? `/w/${scope.slug}` : '/org')

/** Returns the address of a page in a scope. */
export const addressOf = (scope: Scope, page: PageEntry): string => (page.path === '/' ? scopePath(scope) : scopePath(scope) + page.path)
