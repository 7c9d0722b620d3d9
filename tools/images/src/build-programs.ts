import { buildBundles, buildCommand, buildPlugin } from './programs.ts'
import { step } from './progress.ts'

/** Builds everything that goes into the images, all at once. */
export async function buildPrograms(): Promise<void> {
  await Promise.all([
    step('bundles', buildBundles),
    step('CNI plugin', buildPlugin),
    step('kubectl-ko', buildCommand),
  ])
}
