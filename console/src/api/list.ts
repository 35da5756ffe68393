import { useInfiniteQuery } from '@tanstack/react-query'
import { call, type Answer, type ApiFailure, type Asked } from './client.ts'
import type { Used } from './used.ts'

/** Operations whose answers are pages of a list. */
export type ListName = {
  [Name in Used]: Answer<Name> extends { readonly next_cursor: string | null; readonly data: readonly unknown[] } ? Name : never
}[Used]

export type Item<Name extends ListName> = Answer<Name>['data'][number]

const pageSize = 50
const mostPages = 200

/** Reads a list page by page. */
export function useList<Name extends ListName>(
  name: Name,
  { query, workspace }: { readonly query: Readonly<Record<string, string>>; readonly workspace: string | undefined },
) {
  const list = useInfiniteQuery<Answer<Name>, ApiFailure, { pages: Answer<Name>[] }, readonly unknown[], string>({
    queryKey: [name, workspace, query],
    initialPageParam: '',
    queryFn: ({ pageParam, signal }) =>
      call(name, { query: { ...query, page_size: pageSize, after: pageParam }, workspace, signal } as unknown as Asked<Name>),
    getNextPageParam: (last) => last.next_cursor,
    maxPages: mostPages,
  })
  const rows = list.data?.pages.flatMap((page): readonly Item<Name>[] => page.data)
  const { error, hasNextPage, isFetchingNextPage } = list
  return {
    /** Undefined until the first page is there. */
    rows,
    error,
    hasMore: hasNextPage,
    isReading: isFetchingNextPage,
    readAgain: () => void list.refetch(),
    readMore: () => void (isFetchingNextPage || list.fetchNextPage()),
  }
}

export type List<Name extends ListName> = ReturnType<typeof useList<Name>>
