// HashiCorp Vault, as its Go module has it, with all in memory: its core, its HTTP API, and the engine and sign-ins that the suite uses.
// The program of `command/` is the same core with every plugin there is, which takes much longer to build.
package main

import (
	"fmt"
	"net"
	"net/http"
	"os"

	"github.com/hashicorp/go-hclog"
	jwt "github.com/hashicorp/vault-plugin-auth-jwt"
	kubernetes "github.com/hashicorp/vault-plugin-auth-kubernetes"
	kv "github.com/hashicorp/vault-plugin-secrets-kv"
	"github.com/hashicorp/vault/builtin/credential/approle"
	api "github.com/hashicorp/vault/http"
	"github.com/hashicorp/vault/internalshared/configutil"
	"github.com/hashicorp/vault/sdk/helper/consts"
	"github.com/hashicorp/vault/sdk/logical"
	"github.com/hashicorp/vault/sdk/physical/inmem"
	"github.com/hashicorp/vault/vault"
)

var (
	signIns = map[string]logical.Factory{"approle": approle.Factory, "jwt": jwt.Factory, "kubernetes": kubernetes.Factory}
	engines = map[string]logical.Factory{"kv": kv.Factory}
)

// builtIn tells Vault which plugins are a part of this program.
type builtIn struct{}

func factories(kind consts.PluginType) map[string]logical.Factory {
	switch kind {
	case consts.PluginTypeCredential:
		return signIns
	case consts.PluginTypeSecrets:
		return engines
	default:
		return nil
	}
}

func (builtIn) Get(name string, kind consts.PluginType) (func() (interface{}, error), bool) {
	factory, known := factories(kind)[name]
	return func() (interface{}, error) { return factory, nil }, known
}

func (builtIn) Contains(name string, kind consts.PluginType) bool {
	_, known := factories(kind)[name]
	return known
}

func (builtIn) Keys(kind consts.PluginType) []string {
	var names []string
	for name := range factories(kind) {
		names = append(names, name)
	}
	return names
}

func (b builtIn) DeprecationStatus(name string, kind consts.PluginType) (consts.DeprecationStatus, bool) {
	return consts.Supported, b.Contains(name, kind)
}

func (builtIn) IsBuiltinEntPlugin(string, consts.PluginType) bool { return false }

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: vault-server HOST:PORT")
		os.Exit(2)
	}
	if err := serve(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve(address string) error {
	logger := hclog.New(&hclog.LoggerOptions{Level: hclog.Warn, Output: os.Stderr})
	storage, err := inmem.NewInmem(nil, logger)
	if err != nil {
		return err
	}
	core, err := vault.NewCore(&vault.CoreConfig{
		Physical:           storage,
		Logger:             logger,
		DisableMlock:       true,
		RedirectAddr:       "http://" + address,
		BuiltinRegistry:    builtIn{},
		CredentialBackends: signIns,
		LogicalBackends:    engines,
	})
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	return http.Serve(listener, api.Handler.Handler(&vault.HandlerProperties{Core: core, ListenerConfig: &configutil.Listener{}}))
}
