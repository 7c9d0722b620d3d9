import { leaveBundleOnFailure } from '@kube-ovn/testing-bundle'
import { afterAll, beforeAll, beforeEach } from 'vitest'
import { refuseUnexplainedRows } from './explained-rows.ts'
import { describeCommands } from './kubectl-ko/commands.ts'
import { describeDatabases } from './kubectl-ko/databases.ts'
import { describeDeeds } from './kubectl-ko/deeds.ts'
import { describeEnds } from './kubectl-ko/ends.ts'
import { describeExplain } from './kubectl-ko/explain.ts'
import { describeFindings } from './kubectl-ko/findings.ts'
import { describePackets } from './kubectl-ko/packets.ts'
import { describePlan } from './kubectl-ko/plan.ts'
import { describeScriptNeeds } from './kubectl-ko/script-needs.ts'
import { describeShownRuns } from './kubectl-ko/shown-runs.ts'
import { KoSuite } from './kubectl-ko/suite.ts'
import { describeTools } from './kubectl-ko/tools.ts'
import { describeWhy } from './kubectl-ko/why.ts'

let suite: KoSuite

/** One cluster for what is asked of all commands. */
function given(): KoSuite {
  return suite
}

beforeAll(async () => {
  suite = await KoSuite.make()
})

beforeEach(() => leaveBundleOnFailure(suite.cluster.evidence))

refuseUnexplainedRows(() => suite.cluster.unexplainedRows())

afterAll(() => suite[Symbol.asyncDispose]())

describeTools(given)
describeEnds(given)
describeCommands(given)
describeScriptNeeds(given)
describePackets(given)
describeFindings(given)
describeWhy(given)
describeExplain(given)
describePlan(given)
describeDeeds(given)
describeDatabases(given)
describeShownRuns(given)
