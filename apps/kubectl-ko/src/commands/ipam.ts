import type { Command } from 'commander'
import type { Context } from '../context.ts'
import { withClusterOptions, withExamples, withOutputOptions } from '../options.ts'

/** Adds `ipam`: who has which address, and whether all agree. */
export function addIpam(program: Command, context: Context): void {
  const group = withExamples(program.command('ipam').description('ask who has which address'), [
    'kubectl ko ipam who 10.16.0.7',
    'kubectl ko ipam verify',
  ])

  const who = withOutputOptions(
    withClusterOptions(
      group
        .command('who')
        .description('show who has an address; ends with 1 when nobody has it')
        .argument('<address>', 'of IPv4 or IPv6'),
    ),
  )
  withExamples(who, ['kubectl ko ipam who 10.16.0.7', 'kubectl ko ipam who fd00:10:16::7 -o json']).action(
    async (text: string) => {
      const { showHolders } = await import('../actions/ipam.ts')
      await showHolders(context, who, text)
    },
  )

  const verify = withOutputOptions(
    withClusterOptions(
      group
        .command('verify')
        .description(
          'compare IP objects, Vips, pods and nodes; ends with 1 when they contradict each other. What is under way may show: look twice',
        ),
    ),
  )
  withExamples(verify, ['kubectl ko ipam verify', 'kubectl ko ipam verify -o json']).action(async () => {
    const { showContradictions } = await import('../actions/ipam.ts')
    await showContradictions(context, verify)
  })

  const leaks = withOutputOptions(
    withClusterOptions(
      group
        .command('leaks')
        .description('show IP objects whose pod or node is gone; ends with 1 when there are any'),
    ),
  )
  withExamples(leaks, ['kubectl ko ipam leaks', 'kubectl ko ipam leaks -o json']).action(async () => {
    const { showLeaks } = await import('../actions/ipam.ts')
    await showLeaks(context, leaks)
  })
}
