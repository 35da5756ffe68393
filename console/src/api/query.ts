import { QueryClient, useQuery, type UseQueryResult } from '@tanstack/react-query'
import { ApiFailure, call, callTagged, type Answer, type Asked, type Tagged } from './client.ts'
import type { Used } from './used.ts'

/** A read that failed for a reason that passes by itself is tried twice more. */
const passes = (error: unknown): boolean => error instanceof ApiFailure && (error.status === 0 || [502, 504].includes(error.status))

export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 30_000,
      retry: (count, error) => count < 2 && passes(error),
      retryDelay: (count) => 500 * 2 ** count,
      refetchOnWindowFocus: false,
      networkMode: 'always',
    },
    mutations: { networkMode: 'always' },
  },
})

interface ReadOptions {
  readonly enabled?: boolean
  readonly staleTime?: number
  readonly refetchInterval?: number
}

/** Reads something and keeps it, by operation and input. */
export const useRead = <Name extends Used>(
  name: Name,
  asked: Asked<Name>,
  options: ReadOptions = {},
): UseQueryResult<Answer<Name>, ApiFailure> =>
  useQuery<Answer<Name>, ApiFailure>({ queryKey: [name, asked], queryFn: ({ signal }) => call(name, { ...asked, signal }), ...options })

/** Reads something with its tag, to be changed. */
export const useTagged = <Name extends Used>(name: Name, asked: Asked<Name>): UseQueryResult<Tagged<Name>, ApiFailure> =>
  useQuery<Tagged<Name>, ApiFailure>({ queryKey: [name, asked, 'tagged'], queryFn: ({ signal }) => callTagged(name, { ...asked, signal }) })

/** Lets everything that was read by these operations be read anew. */
export const forget = (...names: readonly Used[]): Promise<unknown> =>
  queries.invalidateQueries({ predicate: ({ queryKey: [name] }) => names.some((one) => one === name) })
