// A client of Git: `go-git-client COMMAND …`; `foreign_git.ts` says which.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/transport/http"
)

func access() *http.BasicAuth {
	return &http.BasicAuth{Username: os.Getenv("GIT_USER"), Password: os.Getenv("GIT_SECRET")}
}

func who() *object.Signature {
	return &object.Signature{Name: "Ann", Email: "ann@example.org", When: time.Now()}
}

func depthOf(rest []string) int {
	if len(rest) == 0 {
		return 0
	}
	depth, _ := strconv.Atoi(rest[0])
	return depth
}

func run(command string, rest []string) error {
	if command == "clone" {
		options := &git.CloneOptions{URL: rest[0], Auth: access(), Depth: depthOf(rest[2:])}
		_, err := git.PlainClone(rest[1], false, options)
		return err
	}
	repository, err := git.PlainOpen(rest[0])
	if err != nil {
		return err
	}
	switch command {
	case "fetch":
		err = repository.Fetch(&git.FetchOptions{Auth: access(), Depth: depthOf(rest[1:])})
		if errors.Is(err, git.NoErrAlreadyUpToDate) {
			err = nil
		}
		return err
	case "commit":
		if err := os.WriteFile(filepath.Join(rest[0], rest[1]), []byte(rest[2]), 0o644); err != nil {
			return err
		}
		tree, err := repository.Worktree()
		if err != nil {
			return err
		}
		if _, err := tree.Add(rest[1]); err != nil {
			return err
		}
		_, err = tree.Commit(rest[3], &git.CommitOptions{Author: who()})
		return err
	case "tag":
		head, err := repository.Head()
		if err != nil {
			return err
		}
		_, err = repository.CreateTag(rest[1], head.Hash(), &git.CreateTagOptions{Tagger: who(), Message: rest[2]})
		return err
	case "push":
		specs := []config.RefSpec{}
		for _, spec := range rest[1:] {
			specs = append(specs, config.RefSpec(spec))
		}
		return repository.Push(&git.PushOptions{Auth: access(), RefSpecs: specs, Progress: os.Stderr})
	}
	return fmt.Errorf("there is no command %q", command)
}

func main() {
	if err := run(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
