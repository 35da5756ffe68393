import { ZxcvbnFactory } from '@zxcvbn-ts/core'
import { adjacencyGraphs, dictionary } from '@zxcvbn-ts/language-common'

/** Makes a guesser of passwords with its list of common ones. Its module takes megabytes, so it is loaded when it is needed. */
export const createGuesser = (): ZxcvbnFactory => new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs })
