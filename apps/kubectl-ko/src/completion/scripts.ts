export const shells = ['bash', 'zsh', 'fish', 'kubectl'] as const
export type Shell = (typeof shells)[number]

/** Scripts for shells; each asks the program itself what may stand there. */
export const scripts: Readonly<Record<Shell, string>> = {
  bash: `# source <(kubectl-ko completion bash)
_kubectl_ko() {
  local IFS=$'\\n'
  COMPREPLY=($(kubectl-ko __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _kubectl_ko kubectl-ko
`,
  zsh: `#compdef kubectl-ko
# source <(kubectl-ko completion zsh)
_kubectl_ko() {
  local -a candidates
  candidates=("\${(@f)$(kubectl-ko __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  compadd -a candidates
}
compdef _kubectl_ko kubectl-ko
`,
  fish: `# kubectl-ko completion fish | source
complete -c kubectl-ko -f -a '(kubectl-ko __complete -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)'
`,
  // kubectl asks this program for what follows "kubectl ko", and reads in the last line how to go on: 4 is without files.
  kubectl: `#!/bin/sh
# kubectl-ko completion kubectl >/usr/local/bin/kubectl_complete-ko; chmod +x /usr/local/bin/kubectl_complete-ko
kubectl-ko __complete -- "$@"
echo :4
`,
}
