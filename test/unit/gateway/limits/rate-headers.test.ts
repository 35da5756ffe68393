import test from 'ava'
import { durationText } from '../../../../src/gateway/limits/rate-headers.ts'

for (const [ms, text] of [
  [0.2, '1ms'],
  [999, '999ms'],
  [999.5, '1000ms'],
  [1000, '1s'],
  [1001, '2s'],
  [60_000, '1m0s'],
  [360_000, '6m0s'],
  [3_600_000, '1h0m0s'],
  [3_661_000, '1h1m1s'],
  [86_400_000, '24h0m0s'],
  [604_800_000, '168h0m0s'],
] as const)
  test(`${ms} ms are ${text}`, (t) => t.is(durationText(ms), text))
