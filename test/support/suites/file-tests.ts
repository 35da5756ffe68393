// Stands in the place of ava for the files of a suite: each has a module of its own, by the file in the query of the address.
import { testOf } from './suite.ts'

const test = testOf(new URL(import.meta.url).searchParams.get('file') ?? '')

// oxlint-disable-next-line import/no-default-export -- ava's own is one.
export { test as default }
