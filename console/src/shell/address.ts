import { useNavigate, useSearch } from '@tanstack/react-router'

export type Search = Readonly<Record<string, string>>

/** Reads and writes the state of a page in its address, one text a name; an empty text is not written. */
export function useAddress(): readonly [Search, (change: Search, options?: { readonly replace?: boolean }) => void] {
  const search: Search = useSearch({ strict: false })
  const navigate = useNavigate()
  const change = (changed: Search, { replace = false }: { readonly replace?: boolean } = {}) => {
    const merged = Object.fromEntries(Object.entries({ ...search, ...changed }).filter(([, value]) => value !== ''))
    void navigate({ to: '.', search: merged as never, replace })
  }
  return [search, change]
}

export const parseSearch = (text: string): Search => Object.fromEntries(new URLSearchParams(text))

export function stringifySearch(search: Record<string, unknown>): string {
  const text = new URLSearchParams(Object.entries(search).map(([name, value]) => [name, String(value)])).toString()
  return text === '' ? '' : `?${text}`
}
