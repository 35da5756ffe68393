import type { Command } from 'commander'
import { parseAllowedHosts } from '../../gateway/ports/egress.ts'
import { createEgress } from '../../gateway/ports/egress-making.ts'
import { examineProviders, type SignInExamination } from '../../features/identity-providers/index.ts'
import { CommandError } from '../failure.ts'
import { withInstallation } from '../installation.ts'
import { ssoAdvice } from './sso-findings.ts'
import { explained, type Trouble } from './trouble.ts'

/** The sign-in of an organisation, in plain words. */
export interface SsoReport {
  readonly organisation: string
  readonly provider: SignInExamination['provider']
  readonly troubles: readonly Trouble[]
}

/** Examines how people of the organisations sign in. The providers are asked as a process would ask them, from where the command runs. */
export const examineSso = (command: Command, organisation: string | undefined): Promise<readonly SsoReport[]> =>
  withInstallation(command, async (installation) => {
    const { config } = installation
    const egress = createEgress({
      trustedHosts: config.trustedCustomHosts,
      allowedHosts: config.allowedCustomHosts === null ? null : parseAllowedHosts(config.allowedCustomHosts),
      proxies: config.proxies,
      connectTimeoutMs: config.connectTimeoutMs,
    })
    try {
      const examined = await examineProviders({ ...installation, egress }, organisation)
      if (organisation !== undefined && examined.length === 0) throw new CommandError(`there is no organisation ${organisation}`)
      return examined.map(({ organisation: slug, provider, findings }) => ({
        organisation: slug,
        provider,
        troubles: findings.map(({ id, severity, seen }) => explained(id, ssoAdvice[id], { severity, seen })),
      }))
    } finally {
      await egress.close()
    }
  })
