import test from 'ava'
import { slope, startSoak, type Sample, type Soak } from '../../../bench/soaking.ts'
import { atNight, nightly } from '../../support/size.ts'

/** Megabytes that 100,000 requests may add: 10 bytes each. A tenth of the requests cannot distinguish so little from the memory of V8's compilers. */
const most = atNight(1, 10)
const warmUp = atNight(50_000, 5_000)
const requests = atNight(200_000, 20_000)
const leaking = 3_000

let soak: Soak
test.before(async () => {
  soak = await startSoak({ keepsCode: !nightly })
})
test.after.always(() => soak?.stop())

function tell(samples: readonly Sample[]): string {
  const [first, last] = [samples[0], samples.at(-1)]
  const grown = `${slope(samples, 'alive').toFixed(2)} MB per 100,000`
  return `alive ${first?.alive.toFixed(1)} -> ${last?.alive.toFixed(1)} MB, ${grown}; resident ${first?.resident.toFixed(0)} -> ${last?.resident.toFixed(0)} MB, ${slope(samples, 'resident').toFixed(2)}`
}

test.serial(`${requests} requests after a warm-up leave nothing behind; a leak of 200 bytes each is seen`, async (t) => {
  t.timeout(30 * 60_000)
  await soak.run({ requests: warmUp, samples: 1 })
  let samples = await soak.run({ requests, samples: atNight(10, 4) })
  t.log(tell(samples))
  // V8's compilations on a busy machine are over with the next round; a leak is in every one.
  for (let round = 1; round < 3 && slope(samples, 'alive') > most; round += 1) {
    samples = await soak.run({ requests, samples: atNight(10, 4) })
    t.log(tell(samples))
  }
  t.true(slope(samples, 'alive') <= most, tell(samples))
  if (nightly) t.true(slope(samples, 'resident') <= most, tell(samples))
  await soak.plantLeak()
  const leaked = await soak.run({ requests: leaking, samples: 2 })
  t.log(`with a leak: ${tell(leaked)}`)
  t.true(slope(leaked, 'alive') > most, tell(leaked))
})
