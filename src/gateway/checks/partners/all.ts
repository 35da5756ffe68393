import type { Check } from '../check.ts'
import { acuvityScan } from './acuvity.ts'
import { aporiaProject } from './aporia.ts'
import { azureContentSafety, azurePii, azureProtectedMaterial, azureShieldPrompt } from './azure.ts'
import { bedrockGuard } from './bedrock.ts'
import { crowdstrikeGuard } from './crowdstrike.ts'
import { exaOnline } from './exa.ts'
import { f5Scan } from './f5.ts'
import { hosted } from './hosted.ts'
import { javelinGuardrails } from './javelin.ts'
import { lassoClassify } from './lasso.ts'
import { mistralModerate } from './mistral.ts'
import { pangeaPii, pangeaTextGuard } from './pangea.ts'
import { patronus } from './patronus.ts'
import { pillar } from './pillar.ts'
import { prismaAirs } from './prisma-airs.ts'
import { promptSecurity } from './prompt-security.ts'
import { promptfooGuard, promptfooHarm, promptfooPii } from './promptfoo.ts'
import { qualifire } from './qualifire.ts'
import { sydeguard } from './sydelabs.ts'
import { walledProtect } from './walledai.ts'
import { zscalerProtect } from './zscaler.ts'

/** Every check that asks a partner, in the order of the guide. */
export const partnerChecks: readonly Check[] = [
  acuvityScan,
  aporiaProject,
  azureContentSafety,
  azurePii,
  azureShieldPrompt,
  azureProtectedMaterial,
  bedrockGuard,
  crowdstrikeGuard,
  exaOnline,
  f5Scan,
  javelinGuardrails,
  lassoClassify,
  mistralModerate,
  pangeaTextGuard,
  pangeaPii,
  prismaAirs,
  ...patronus,
  ...pillar,
  promptfooGuard,
  promptfooPii,
  promptfooHarm,
  ...promptSecurity,
  ...qualifire,
  ...hosted,
  sydeguard,
  walledProtect,
  zscalerProtect,
]
