import type { Command } from 'commander'
import type { Context } from '../context.ts'
import { withClusterOptions, withExamples, withOutputOptions } from '../options.ts'

/** Adds `explain`: from a row, a flow or a logged packet to the object that it is of, and from an object to its rows. */
export function addExplain(program: Command, context: Context): void {
  const command = withOutputOptions(
    withClusterOptions(
      program
        .command('explain')
        .description(
          'say which object a row, a flow or a logged packet is of, or which rows an object has and what it lacks; without an argument, which rows are of nobody',
        )
        .argument(
          '[what]',
          'identifier of a row, cookie of a flow, sample/COOKIE, line with acl_log of ovn-controller, or KIND/NAME, KIND/NAMESPACE/NAME',
        ),
    ),
  )
  withExamples(command, [
    'kubectl ko explain 0x9d86efbd',
    'kubectl ko explain ee3e61c0-7e58-4f4a-b979-160fc0c1c85d',
    `kubectl ko explain "$(kubectl -n kube-system exec ds/ovs-ovn -- grep -h acl_log /var/log/ovn/ovn-controller.log | tail -1)"`,
    'kubectl ko explain sample/0x51f3a2c9',
    'kubectl ko explain pod/shop/web-0',
    'kubectl ko explain subnet/shop -o wide',
    'kubectl ko explain',
  ]).action(async (text: string | undefined) => {
    const { explain } = await import('../actions/explain.ts')
    await explain(context, command, text)
  })
}
