import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { compareDumps, rulesFor } from './compare.ts'
import type { Difference } from './compare.ts'
import type { DeclaredDifference } from './differences.ts'
import type { Dump, Snapshot } from './dump.ts'
import type { GoldenCase } from './golden-case.ts'
import { playCase, type PlayOptions } from './play-case.ts'

export interface StepResult {
  readonly step: string
  readonly northbound: readonly Difference[]
  readonly kubernetes: readonly Difference[]
  readonly found: Snapshot
}

export interface ReplayOptions extends PlayOptions {
  readonly declared: readonly DeclaredDifference[]
}

/** Plays a case against a controller that was started on an empty cluster, and compares after each step. */
export async function replayCase(golden: GoldenCase, options: ReplayOptions): Promise<readonly StepResult[]> {
  const results: StepResult[] = []
  for await (const { step, found } of playCase(golden, options)) {
    results.push(await compareStep(golden, step, found, options.declared))
  }
  return results
}

async function compareStep(
  golden: GoldenCase,
  step: string,
  found: Snapshot,
  declared: readonly DeclaredDifference[],
): Promise<StepResult> {
  const compare = async (side: DeclaredDifference['in']): Promise<readonly Difference[]> =>
    compareDumps(
      JSON.parse(await readFile(join(golden.directory, step, `${side}.json`), 'utf8')) as Dump,
      found[side],
      rulesFor(declared, side, golden.name, step),
    )
  return { step, northbound: await compare('northbound'), kubernetes: await compare('kubernetes'), found }
}
