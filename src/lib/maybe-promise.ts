/** A value that is there at once on the hot path, and later when it must be loaded. Test with `instanceof Promise`. */
export type MaybePromise<T> = T | Promise<T>
