// Command kubernetes is every program of a control plane in one file: it does what the name says that it is called by.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	kubectl "k8s.io/kubectl/pkg/cmd"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	kcm "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	kproxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	ksched "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

func main() {
	name := filepath.Base(os.Args[0])
	var c *cobra.Command
	switch name {
	case "kube-apiserver":
		c = apiserver.NewAPIServerCommand()
	case "kube-controller-manager":
		c = kcm.NewControllerManagerCommand()
	case "kube-proxy":
		c = kproxy.NewProxyCommand()
	case "kube-scheduler":
		c = ksched.NewSchedulerCommand()
	case "kubectl":
		c = kubectl.NewDefaultKubectlCommand()
	default:
		fmt.Fprintf(os.Stderr, "%s: call it by the name of the program that it shall be, such as kubectl\n", name)
		os.Exit(2)
	}
	os.Exit(cli.Run(c))
}
