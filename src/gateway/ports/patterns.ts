/** Regular expressions of callers, which take linear time. */
export { withPatterns } from '../patterns/pattern-making.ts'
