import { sortShort } from '../collections/sort-short.ts'

/** Returns the names of an object's members in order. */
export const namesInOrder = (value: object): readonly string[] => sortShort(Object.keys(value), isBefore)

const isBefore = (one: string, other: string): boolean => one < other
