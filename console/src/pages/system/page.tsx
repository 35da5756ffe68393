import { Page } from '../../parts/page.tsx'
import { Health } from './health.tsx'

/** Shows the health of the installation. */
export const SystemPage = () => (
  <Page title="System">
    <Health />
  </Page>
)
