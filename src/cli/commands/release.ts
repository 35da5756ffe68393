import type { Command } from 'commander'
import { explain } from '../command-help.ts'
import { addReleasePublish } from './release-publish.ts'
import { addReleaseSign } from './release-sign.ts'
import { addReleaseVerify } from './release-verify.ts'

/** `gatehouse release sign|verify|publish`. A checkout adds the commands that build releases. */
export function addRelease(program: Command): Command {
  const release = explain(program.command('release'), { example: 'gatehouse release verify dist/1.12.0 --key gatehouse.pub' }).description(
    'Signs, verifies and publishes releases.',
  )
  addReleaseSign(release)
  addReleaseVerify(release)
  addReleasePublish(release)
  return release
}
