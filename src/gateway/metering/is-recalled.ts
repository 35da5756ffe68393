/** A part of an attempt: the cached answer that it gives again; null: none. */
interface AttemptRecall {
  readonly recalled: { readonly answer: object | null } | null
}

/** Returns true if a cached answer is given again, so that no provider is asked. */
export const isRecalled = ({ recalled }: AttemptRecall): boolean => recalled !== null && recalled.answer !== null
