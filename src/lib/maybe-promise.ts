/**
 * A value that is there at once on the hot path, and later when it must be loaded. Code that awaits it asks `instanceof Promise` first: a
 * value that is there must not cost a turn of the queue.
 */
export type MaybePromise<T> = T | Promise<T>

/** Uses a value: at once when it is there, else when it has come. */
export function settled<T, R>(value: MaybePromise<T>, use: (value: T) => MaybePromise<R>): MaybePromise<R> {
  return value instanceof Promise ? value.then(use) : use(value)
}
