// Proves the image without Docker: `npm run image:check`. Builds the release of this checkout twice, compares, and runs it in containers as its
// operators do; builds earlier releases, and upgrades containers of one to containers of the next. A machine that cannot do a step reports it loudly:
// SKIPPED is never passed. Ends with 1 when a check failed.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { checkBuild } from './image/build.ts'
import { checkContainers } from './image/containers.ts'
import { Report } from './report.ts'
import { findTools } from './image/tools.ts'
import { checkUpgrades } from './image/upgrades.ts'

const report = new Report('image')
const work = await mkdtemp(path.join(tmpdir(), 'gatehouse-image-'))
try {
  const tools = await findTools()
  for (const [what, why] of tools.missing) report.skip(what, why)
  const built = await checkBuild({ work, tools, report })
  if (built !== null && tools.runs) {
    await checkContainers({ work, built, report })
    await checkUpgrades({ work, built, report })
  }
} catch (error) {
  report.fail('the image', error)
} finally {
  await rm(work, { recursive: true, force: true })
}
report.end()
