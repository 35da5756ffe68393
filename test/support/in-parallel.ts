/** Runs the work for every item, at most `width` at a time; results in the order of the items. */
export async function inParallel<Item, Result>(
  items: readonly Item[],
  width: number,
  work: (item: Item, at: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  const entries = items.entries()
  const worker = async () => {
    for (const [at, item] of entries) results[at] = await work(item, at)
  }
  await Promise.all(Array.from({ length: width }, worker))
  return results
}
